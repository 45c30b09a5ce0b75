import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import path from 'node:path';
import { AuditOptions } from './audit-options.ts';
import { Flags } from './flags.ts';

const policyFile = path.resolve(import.meta.dirname, '../../manifests/components/audit-log/policy.yaml');

const parsed = (...args: string[]): AuditOptions => {
  const options = new AuditOptions();
  const flags = new Flags();
  options.addFlags(flags);
  flags.parse(args);
  return options;
};
const whole = [`--audit-policy-file=${policyFile}`, '--audit-log-path=-'];

describe('the flags about audit', () => {
  it('record nothing unless there is a policy', async () => {
    assert.deepEqual(parsed().validate(), []);
    assert.equal(await parsed().complete(), undefined);
  });

  it("have the kube-apiserver's defaults", async () => {
    const { policy, log, webhook } = (await parsed(...whole).complete())!;
    assert.ok(policy.rules.length > 0);
    assert.equal(webhook, undefined);
    assert.deepEqual(log, {
      mode: 'blocking',
      batch: { bufferSize: 10_000, maxBatchSize: 1, maxWaitMs: 30_000, maxConcurrent: 1 },
      truncate: undefined,
      rotation: { path: '-', maxSizeBytes: 100 * 1024 * 1024, maxAgeDays: 366, maxBackups: 100, compress: false },
    });
  });

  it('are all heard', async () => {
    const args = ['maxage=1', 'maxbackup=2', 'maxsize=3', 'compress', 'mode=batch', 'batch-buffer-size=4', 'batch-max-size=5', 'batch-max-wait=1m6s', 'batch-throttle-enable=true', 'batch-throttle-qps=0.5', 'batch-throttle-burst=7', 'truncate-enabled', 'truncate-max-event-size=8', 'truncate-max-batch-size=9'];
    const { log } = (await parsed(...whole, ...args.map((arg) => `--audit-log-${arg}`)).complete())!;
    assert.deepEqual(log, {
      mode: 'batch',
      batch: { bufferSize: 4, maxBatchSize: 5, maxWaitMs: 66_000, maxConcurrent: 1, throttle: { qps: 0.5, burst: 7 } },
      truncate: { maxEventSize: 8, maxBatchSize: 9 },
      rotation: { path: '-', maxSizeBytes: 3 * 1024 * 1024, maxAgeDays: 1, maxBackups: 2, compress: true },
    });
  });

  for (const [args, fault] of [
    [['--audit-log-path=-'], /need --audit-policy-file/],
    [['--audit-webhook-config-file=x'], /need --audit-policy-file/],
    [[`--audit-policy-file=${policyFile}`], /needs somewhere to write to/],
    [[...whole, '--audit-log-mode=later'], /--audit-log-mode must be one of batch, blocking, blocking-strict/],
    [[...whole, '--audit-log-format=legacy'], /--audit-log-format must be json/],
    [[...whole, '--audit-log-mode=batch', '--audit-log-batch-buffer-size=0'], /--audit-log-batch-buffer-size must be greater than 0/],
    [[...whole, '--audit-webhook-config-file=x', '--audit-webhook-batch-throttle-qps=0'], /--audit-webhook-batch-throttle-qps must be greater than 0/],
    [[...whole, '--audit-log-truncate-max-batch-size=1'], /--audit-log-truncate-max-batch-size must not be less/],
  ] as const) it(`are refused: ${args.at(-1)}`, () => assert.match(parsed(...args).validate().join('\n'), fault));

  for (const args of [['--audit-log-batch-max-wait=5'], ['--audit-log-batch-max-wait=-1s'], ['--audit-log-maxage=-1'], ['--audit-webhook-batch-throttle-qps=fast']]) {
    it(`cannot be read: ${args.join(' ')}`, () => assert.throws(() => parsed(...args), /flag --audit-/));
  }

  it('name a policy that cannot be used', () => assert.rejects(parsed('--audit-policy-file=/no/such', '--audit-log-path=-').complete(), /audit policy file \/no\/such: ENOENT/));
});
