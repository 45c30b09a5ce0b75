import { Gauge, type Registry } from 'prom-client';
import type { BudgetLeft } from './issuance/desk.ts';
import { issuanceOf } from './issued.ts';
import type { GatewayCaches } from './observe.ts';

/** What is counted. */
export interface Seen extends Pick<GatewayCaches, 'tenantGateways' | 'certificates'> {
  budget: () => readonly BudgetLeft[];
}

/** What gateways serve, as far as the leader sees it. Made once for a process; each term has caches of its own. */
export class GatewayMetrics {
  #seen: Seen | undefined;

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
      (this.#seen?.tenantGateways.list() ?? []).flatMap(({ status }) => status?.listeners?.map(({ ready }) => (ready ? 'ready' : 'not_ready')) ?? []),
    );
    count('tenant_apiserver_gateway_certificates', 'Certificates that gateways order, by whether they were issued.', () => (this.#seen?.certificates.list() ?? []).map(issuanceOf));
    const budget = (): readonly BudgetLeft[] => this.#seen?.budget() ?? [];
    new Gauge({
      name: 'tenant_apiserver_gateway_certificate_budget',
      help: 'New certificates that an issuer may still give for a registered domain, of those that something was ordered for lately.',
      labelNames: ['issuer', 'domain'],
      registers,
      collect() {
        this.reset();
        for (const { issuer, domain, left } of budget()) this.set({ issuer, domain }, left);
      },
    });
  }

  /** Tells of these from now on. Returns how to end that. */
  begin(seen: Seen): () => void {
    this.#seen = seen;
    return () => {
      if (this.#seen === seen) this.#seen = undefined;
    };
  }
}
