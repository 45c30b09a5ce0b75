import type { WriteLimits } from '../../pkg/controller/pace.ts';
import { integerValue, type Flags } from '../../pkg/server/flags.ts';

/** How hard the loop works. */
export interface LoopLimits {
  /** Objects that each controller works on at a time. */
  workers: number;
  /** Absent where the loop writes as fast as the kube-apiserver answers. */
  writes?: WriteLimits;
}

/** The command line's settings of how hard the loop works. */
export class LoopLimitOptions {
  concurrentSyncs = 4;
  kubeApiQps = 0;
  kubeApiBurst = 30;

  addFlags(flags: Flags): void {
    const number = (name: 'concurrentSyncs' | 'kubeApiQps' | 'kubeApiBurst', flag: string, help: string): void =>
      flags.add({ name: flag, value: 'count', help, default: String(this[name]), set: (given) => void (this[name] = integerValue(flag, given)) });
    number('concurrentSyncs', 'concurrent-syncs', 'tenants, and gateways, that the loop works on at a time');
    number('kubeApiQps', 'kube-api-qps', "writes of the loop a second; 0: as many as the kube-apiserver takes, whose own limits hold (manifests/server/flowcontrol.yaml)");
    number('kubeApiBurst', 'kube-api-burst', 'writes of the loop at once after a rest, where --kube-api-qps is set');
  }

  /** Every fault, without I/O. */
  validate(): string[] {
    return [
      ...(this.concurrentSyncs < 1 ? ['--concurrent-syncs must be at least 1'] : []),
      ...(this.kubeApiQps < 0 ? ['--kube-api-qps must be 0 or more'] : []),
      ...(this.kubeApiBurst < 1 ? ['--kube-api-burst must be at least 1'] : []),
    ];
  }

  complete(): LoopLimits {
    const { concurrentSyncs: workers, kubeApiQps: perSecond, kubeApiBurst: burst } = this;
    return { workers, ...(perSecond > 0 && { writes: { perSecond, burst } }) };
  }
}
