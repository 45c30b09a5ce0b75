import { Gauge, type Registry } from 'prom-client';
import type { GatewayCaches } from './observe.ts';
import type { Certificate } from './types.ts';

/** What gateways serve, as far as the leader sees it. Made once for a process; each term has caches of its own. */
export class GatewayMetrics {
  #caches: Pick<GatewayCaches, 'tenantGateways' | 'certificates'> | undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    const count = (name: string, help: string, states: () => Iterable<string>): void => {
      new Gauge({
        name,
        help,
        labelNames: ['state'],
        registers,
        collect() {
          this.reset();
          for (const state of states()) this.inc({ state });
        },
      });
    };
    count('tenant_apiserver_gateway_listeners', 'Listeners of all gateways, by whether they are ready.', () =>
      (this.#caches?.tenantGateways.list() ?? []).flatMap(({ status }) => status?.listeners?.map(({ ready }) => (ready ? 'ready' : 'not_ready')) ?? []),
    );
    count('tenant_apiserver_gateway_certificates', 'Certificates that gateways order, by whether they were issued.', () => (this.#caches?.certificates.list() ?? []).map(stateOf));
  }

  /** Tells of these caches from now on. Returns how to end that. */
  begin(caches: Pick<GatewayCaches, 'tenantGateways' | 'certificates'>): () => void {
    this.#caches = caches;
    return () => {
      if (this.#caches === caches) this.#caches = undefined;
    };
  }
}

const stateOf = ({ status }: Certificate): string => {
  const conditionOf = (type: string): string | undefined => status?.conditions?.find((condition) => condition.type === type)?.status;
  if (conditionOf('Ready') === 'True') return 'ready';
  return conditionOf('Issuing') === 'True' ? 'issuing' : 'waiting';
};
