import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { defaultTrustedGroups } from '../admission/field-gate.ts';
import { goDurationMs } from '../endpoints/go-duration.ts';
import { loadRestConfig, type RestConfig } from '../kube/config.ts';
import { AuditOptions, type AuditConfig } from './audit-options.ts';
import { booleanValue, integerValue, type Flags } from './flags.ts';

/** What the command line decides, complete and checked. */
export interface ServerConfig {
  readonly bindAddress: string;
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
  readonly host: RestConfig;
  readonly namespace: string;
  readonly serviceName: string;
  readonly trustedGroups: readonly string[];
  readonly anonymous: boolean;
  readonly tokenAudiences: readonly string[];
  readonly trustedProxyUsers: readonly string[];
  readonly alwaysAllowPaths: readonly string[];
  readonly maxInFlight: number;
  readonly maxMutatingInFlight: number;
  readonly requestTimeoutMs: number;
  readonly requireParent: boolean;
  readonly runLoop: boolean;
  readonly logLevel: string;
  readonly shutdownDelaySeconds: number;
  /** Absent where nothing is recorded. */
  readonly audit: AuditConfig | undefined;
  /** Unique among replicas. */
  readonly identity: string;
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** The command line's settings, each with its default. */
export class ServerOptions {
  bindAddress = '0.0.0.0';
  port = 6443;
  certFile = '';
  keyFile = '';
  kubeconfig = '';
  namespace = 'cozy-system';
  serviceName = 'tenant-apiserver';
  trustedGroups: string[] = [];
  anonymous = true;
  tokenAudiences: string[] = [];
  trustedProxyUsers: string[] = [];
  alwaysAllowPaths = ['/healthz', '/livez', '/readyz'];
  maxInFlight = 400;
  maxMutatingInFlight = 200;
  requestTimeout = '1m0s';
  requireParent = true;
  runLoop = true;
  logLevel = 'info';
  shutdownDelaySeconds = 0;
  readonly audit = new AuditOptions();

  addFlags(flags: Flags): void {
    const text = (name: 'bindAddress' | 'certFile' | 'keyFile' | 'kubeconfig' | 'namespace' | 'serviceName' | 'requestTimeout' | 'logLevel', flag: string, value: string, help: string): void =>
      flags.add({ name: flag, value, help, default: this[name], set: (given) => void (this[name] = given) });
    const number = (name: 'port' | 'maxInFlight' | 'maxMutatingInFlight' | 'shutdownDelaySeconds', flag: string, value: string, help: string): void =>
      flags.add({ name: flag, value, help, default: String(this[name]), set: (given) => void (this[name] = integerValue(flag, given)) });
    const toggle = (name: 'anonymous' | 'requireParent' | 'runLoop', flag: string, help: string): void =>
      flags.add({ name: flag, help, default: String(this[name]), set: (given) => void (this[name] = booleanValue(flag, given)) });

    text('bindAddress', 'bind-address', 'address', 'address to listen on');
    number('port', 'secure-port', 'port', 'port to listen on, for HTTP/2 and HTTP/1.1 over TLS');
    text('certFile', 'tls-cert-file', 'path', 'serving certificate, reloaded when it changes; without it the replicas share one that the leader issues');
    text('keyFile', 'tls-private-key-file', 'path', 'private key of the serving certificate');
    text('kubeconfig', 'kubeconfig', 'path', "how to reach the kube-apiserver; without it the pod's own ServiceAccount is used");
    text('namespace', 'namespace', 'name', "the server's own namespace: of its Service, Lease, serving Secret and fences");
    text('serviceName', 'service-name', 'name', 'name of the Service that the APIServices point at; the serving certificate is issued for it');
    flags.add({
      name: 'trusted-group',
      value: 'group',
      help: `group whose members may set a tenant's host; may be repeated, and replaces the default list`,
      default: defaultTrustedGroups.join(', '),
      set: (group) => void this.trustedGroups.push(group),
    });
    toggle('anonymous', 'anonymous-auth', 'let requests without credentials in as system:anonymous, for authorization to judge');
    flags.add({
      name: 'api-audience',
      value: 'audience',
      help: 'audience that bearer tokens must be for; may be repeated; without it the kube-apiserver decides',
      default: '',
      set: (audience) => void this.tokenAudiences.push(audience),
    });
    flags.add({
      name: 'trusted-proxy-user',
      value: 'user',
      help: "user whose connections speak for many, as the ServiceAccount of an audit proxy: by its bearer token, the limits of a connection become the front proxy's; may be repeated",
      default: '',
      set: (user) => void this.trustedProxyUsers.push(user),
    });
    flags.add({
      name: 'authorization-always-allow-paths',
      value: 'paths',
      help: 'paths that need no authorization, separated by commas',
      default: this.alwaysAllowPaths.join(','),
      set: (paths) => void (this.alwaysAllowPaths = paths.split(',').filter(Boolean)),
    });
    number('maxInFlight', 'max-requests-inflight', 'count', "reading requests at a time; others wait in a queue of each user's own, or are answered 429; 0: no limit");
    number('maxMutatingInFlight', 'max-mutating-requests-inflight', 'count', 'writing requests at a time, in the same way');
    text('requestTimeout', 'request-timeout', 'duration', 'time that a request may take, but for watches; then it is answered 504');
    toggle('requireParent', 'require-parent', 'refuse to create a tenant where there is no tenant above it; false for a restore from a backup, in whatever order: such tenants wait then, not Ready, for the one above');
    toggle('runLoop', 'run-loop', 'take part in leader election and, as the leader, run the loop');
    number('shutdownDelaySeconds', 'shutdown-delay-seconds', 'seconds', 'how long to go on serving, not ready, after a signal to stop');
    text('logLevel', 'log-level', 'level', `one of ${logLevels.join(', ')}`);
    this.audit.addFlags(flags);
  }

  /** Every fault, without I/O. */
  validate(): string[] {
    const faults: string[] = [];
    if (this.port < 0 || this.port > 65535) faults.push('--secure-port must be between 0 and 65535 (0 takes a free port)');
    if (Boolean(this.certFile) !== Boolean(this.keyFile)) faults.push('--tls-cert-file and --tls-private-key-file go together');
    if (!this.namespace) faults.push('--namespace must not be empty');
    if (!this.serviceName) faults.push('--service-name must not be empty');
    if (!((goDurationMs(this.requestTimeout) ?? 0) > 0)) faults.push('--request-timeout must be a duration above 0, like 30s or 1m30s');
    if (!logLevels.includes(this.logLevel)) faults.push(`--log-level must be one of ${logLevels.join(', ')}`);
    faults.push(...this.audit.validate());
    return faults;
  }

  /** Fills gaps and reads files; the network waits for run(). */
  async complete(): Promise<ServerConfig> {
    const { bindAddress, port, certFile, keyFile, namespace, serviceName, anonymous, tokenAudiences, trustedProxyUsers, alwaysAllowPaths } = this;
    const { maxInFlight, maxMutatingInFlight, requireParent, runLoop, logLevel, shutdownDelaySeconds } = this;
    return Object.freeze({
      bindAddress,
      port,
      certFile,
      keyFile,
      namespace,
      serviceName,
      anonymous,
      tokenAudiences,
      trustedProxyUsers,
      alwaysAllowPaths,
      maxInFlight,
      maxMutatingInFlight,
      requestTimeoutMs: goDurationMs(this.requestTimeout)!,
      requireParent,
      runLoop,
      logLevel,
      shutdownDelaySeconds,
      audit: await this.audit.complete(),
      host: await loadRestConfig(this.kubeconfig || undefined),
      trustedGroups: this.trustedGroups.length > 0 ? this.trustedGroups : defaultTrustedGroups,
      identity: `${hostname()}_${randomUUID()}`,
    });
  }
}
