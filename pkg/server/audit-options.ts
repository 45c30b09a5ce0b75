import { modes, type BackendConfig, type LogConfig, type Mode, type WebhookConfig } from '../audit/backends.ts';
import type { Policy } from '../audit/policy.ts';
import { loadPolicy } from '../audit/policy-file.ts';
import { loadRestConfig } from '../kube/config.ts';
import { booleanValue, durationValue, integerValue, numberValue, type Flags } from './flags.ts';

/** What is recorded, and where to. */
export interface AuditConfig {
  readonly policy: Policy;
  readonly log: LogConfig | undefined;
  readonly webhook: WebhookConfig | undefined;
}

/** What the two backends have in common, with the kube-apiserver's defaults. */
class BackendOptions {
  readonly name: 'log' | 'webhook';
  mode: string;
  bufferSize = 10_000;
  maxBatchSize: number;
  maxWaitMs = 30_000;
  throttle: boolean;
  throttleQps = 10;
  throttleBurst = 15;
  truncate = false;
  maxEventSize = 100 * 1024;
  maxTruncatedBatchSize = 10 * 1024 * 1024;

  readonly #modes: readonly Mode[];

  constructor(name: 'log' | 'webhook', allowed: readonly Mode[]) {
    this.name = name;
    this.#modes = allowed;
    this.mode = name === 'log' && allowed.includes('blocking') ? 'blocking' : 'batch';
    this.maxBatchSize = name === 'log' ? 1 : 400;
    this.throttle = name === 'webhook';
  }

  addFlags(flags: Flags): void {
    const prefix = `audit-${this.name}`;
    const number = (name: 'bufferSize' | 'maxBatchSize' | 'throttleBurst' | 'maxEventSize' | 'maxTruncatedBatchSize', flag: string, value: string, help: string): void =>
      flags.add({ name: `${prefix}-${flag}`, value, help, default: String(this[name]), set: (given) => void (this[name] = integerValue(`${prefix}-${flag}`, given)) });
    const toggle = (name: 'throttle' | 'truncate', flag: string, help: string): void =>
      flags.add({ name: `${prefix}-${flag}`, help, default: String(this[name]), set: (given) => void (this[name] = booleanValue(`${prefix}-${flag}`, given)) });

    flags.add({
      name: `${prefix}-mode`,
      value: 'mode',
      help: 'batch: events are queued, and no request waits; blocking: requests wait until their events are written; blocking-strict: and are refused where the first cannot be written',
      default: this.mode,
      set: (mode) => void (this.mode = mode),
    });
    number('bufferSize', 'batch-buffer-size', 'events', 'events that may wait or be under way; more are dropped, and counted. Mode batch');
    number('maxBatchSize', 'batch-max-size', 'events', 'events written at a time. Mode batch');
    flags.add({
      name: `${prefix}-batch-max-wait`,
      value: 'duration',
      help: 'how long an event may wait for others. Mode batch',
      default: `${this.maxWaitMs / 1000}s`,
      set: (given) => void (this.maxWaitMs = durationValue(`${prefix}-batch-max-wait`, given)),
    });
    toggle('throttle', 'batch-throttle-enable', 'limit how often a batch is written. Mode batch');
    flags.add({
      name: `${prefix}-batch-throttle-qps`,
      value: 'count',
      help: 'batches a second, on average. Mode batch',
      default: String(this.throttleQps),
      set: (given) => void (this.throttleQps = numberValue(`${prefix}-batch-throttle-qps`, given)),
    });
    number('throttleBurst', 'batch-throttle-burst', 'count', 'batches at once, after a pause. Mode batch');
    toggle('truncate', 'truncate-enabled', 'leave the bodies out of events that are too large, and mark those events');
    number('maxEventSize', 'truncate-max-event-size', 'bytes', 'from where on an event is too large; one that is so without bodies is dropped, and counted');
    number('maxTruncatedBatchSize', 'truncate-max-batch-size', 'bytes', 'largest batch, where truncating is enabled');
  }

  validate(): string[] {
    const prefix = `--audit-${this.name}`;
    const faults: string[] = [];
    const positive = (flag: string, value: number): void => {
      if (value <= 0) faults.push(`${prefix}-${flag} must be greater than 0`);
    };
    if (!this.#modes.includes(this.mode as Mode)) faults.push(`${prefix}-mode must be one of ${this.#modes.join(', ')}`);
    if (this.mode === 'batch') {
      positive('batch-buffer-size', this.bufferSize);
      positive('batch-max-size', this.maxBatchSize);
      if (this.throttle) positive('batch-throttle-qps', this.throttleQps);
      if (this.throttle) positive('batch-throttle-burst', this.throttleBurst);
    }
    positive('truncate-max-event-size', this.maxEventSize);
    if (this.maxTruncatedBatchSize < this.maxEventSize) faults.push(`${prefix}-truncate-max-batch-size must not be less than ${prefix}-truncate-max-event-size`);
    return faults;
  }

  complete(): BackendConfig {
    const { bufferSize, maxBatchSize, maxWaitMs } = this;
    return {
      mode: this.mode as Mode,
      batch: {
        bufferSize,
        maxBatchSize,
        maxWaitMs,
        maxConcurrent: this.name === 'log' ? 1 : 10, // lines keep their order; a slow receiver gets a few batches at a time
        ...(this.throttle && { throttle: { qps: this.throttleQps, burst: this.throttleBurst } }),
      },
      truncate: this.truncate ? { maxEventSize: this.maxEventSize, maxBatchSize: this.maxTruncatedBatchSize } : undefined,
    };
  }
}

/** Where a program differs from the kube-apiserver. */
export interface AuditDefaults {
  /** Those that may be chosen; all if left out. */
  modes?: readonly Mode[];
  /** In place of a file; without either nothing is recorded. */
  policy?: Policy;
}

/** The flags about audit, named as the kube-apiserver's. Without a policy nothing is recorded. */
export class AuditOptions {
  policyFile = '';
  logPath = '';
  logMaxAge = 366;
  logMaxBackups = 100;
  logMaxSize = 100;
  logCompress = false;
  logFormat = 'json';
  webhookConfigFile = '';
  webhookInitialBackoffMs = 10_000;
  readonly #log: BackendOptions;
  readonly #webhook: BackendOptions;
  readonly #policy: Policy | undefined;

  constructor({ modes: allowed = modes, policy }: AuditDefaults = {}) {
    this.#log = new BackendOptions('log', allowed);
    this.#webhook = new BackendOptions('webhook', allowed);
    this.#policy = policy;
  }

  addFlags(flags: Flags): void {
    const text = (name: 'policyFile' | 'logPath' | 'logFormat' | 'webhookConfigFile', flag: string, value: string, help: string): void =>
      flags.add({ name: flag, value, help, default: this[name], set: (given) => void (this[name] = given) });
    const number = (name: 'logMaxAge' | 'logMaxBackups' | 'logMaxSize', flag: string, value: string, help: string): void =>
      flags.add({ name: flag, value, help, default: String(this[name]), set: (given) => void (this[name] = integerValue(flag, given)) });

    text('policyFile', 'audit-policy-file', 'path', 'audit policy (audit.k8s.io/v1); without it nothing is recorded');
    text('logPath', 'audit-log-path', 'path', 'file that gets each event as a line of JSON; - is the standard output');
    number('logMaxAge', 'audit-log-maxage', 'days', 'how long files that were put aside are kept; 0 is for ever');
    number('logMaxBackups', 'audit-log-maxbackup', 'count', 'how many files that were put aside are kept; 0 is all');
    number('logMaxSize', 'audit-log-maxsize', 'megabytes', 'size from which on the file is put aside; 0 is never');
    flags.add({
      name: 'audit-log-compress',
      help: 'compress files that were put aside by gzip',
      default: String(this.logCompress),
      set: (given) => void (this.logCompress = booleanValue('audit-log-compress', given)),
    });
    text('logFormat', 'audit-log-format', 'format', 'json, and nothing else');
    this.#log.addFlags(flags);
    text('webhookConfigFile', 'audit-webhook-config-file', 'path', 'kubeconfig of the server that events are posted to');
    flags.add({
      name: 'audit-webhook-initial-backoff',
      value: 'duration',
      help: 'how long to wait before what could not be posted is posted again; up to five times, each wait half as long again',
      default: `${this.webhookInitialBackoffMs / 1000}s`,
      set: (given) => void (this.webhookInitialBackoffMs = durationValue('audit-webhook-initial-backoff', given)),
    });
    this.#webhook.addFlags(flags);
  }

  /** Every fault, without I/O. */
  validate(): string[] {
    const faults: string[] = [];
    if (this.logPath) faults.push(...this.#log.validate());
    if (this.webhookConfigFile) faults.push(...this.#webhook.validate());
    if (this.logFormat !== 'json') faults.push('--audit-log-format must be json');
    const records = Boolean(this.policyFile || this.#policy);
    if (records && !this.logPath && !this.webhookConfigFile) faults.push('the audit policy needs somewhere to write to: --audit-log-path or --audit-webhook-config-file');
    if (!records && (this.logPath || this.webhookConfigFile)) faults.push('--audit-log-path and --audit-webhook-config-file need --audit-policy-file: without a policy nothing is recorded');
    return faults;
  }

  /**
   * Reads the files.
   * @returns undefined where nothing is to be recorded
   * @throws Error for a policy or kubeconfig that cannot be used
   */
  async complete(): Promise<AuditConfig | undefined> {
    const policy = this.policyFile ? await loadPolicy(this.policyFile) : this.#policy;
    if (!policy) return undefined;
    const { logPath, logMaxSize, logMaxAge, logMaxBackups, logCompress, webhookConfigFile, webhookInitialBackoffMs } = this;
    return Object.freeze({
      policy,
      log: logPath
        ? { ...this.#log.complete(), rotation: { path: logPath, maxSizeBytes: logMaxSize * 1024 * 1024, maxAgeDays: logMaxAge, maxBackups: logMaxBackups, compress: logCompress } }
        : undefined,
      webhook: webhookConfigFile
        ? { ...this.#webhook.complete(), target: await loadRestConfig(webhookConfigFile), initialBackoffMs: webhookInitialBackoffMs }
        : undefined,
    });
  }
}
