import type { Clock } from '../../controller/clock.ts';
import { hasCode } from '../../kube/status-error.ts';
import { factsOf, type Secret, type SecretFacts } from './facts.ts';
import type { Need } from './needs.ts';
import type { SeenSecret } from './verdict.ts';

/** How long what was read is believed: briefly where something is wrong with it, for somebody may be mending it, or giving us our rights. */
const believedMs = { sound: 300_000, faulty: 10_000, unreadable: 1000 };

/**
 * Reads Secrets one by one, and remembers for a while what is known of each, not what it holds. They are not watched: that takes the
 * right to see all Secrets of the cluster, and a gateway only needs those that it names.
 */
export class SecretReader {
  readonly #read: (namespace: string, name: string) => Promise<Secret>;
  readonly #clock: Clock;
  readonly #known = new Map<string, { facts: SecretFacts; until: number }>();

  constructor(read: (namespace: string, name: string) => Promise<Secret>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** @throws StatusError where it cannot be told whether a Secret is there */
  async see(namespace: string, needs: readonly Need[]): Promise<SeenSecret[]> {
    return Promise.all(needs.map(async (need) => ({ need, facts: await this.#facts(namespace, need) })));
  }

  /** How long from now what was said of these holds, in milliseconds; undefined of none. */
  believedFor(namespace: string, needs: readonly Need[]): number | undefined {
    const ends = needs.map(({ name }) => this.#known.get(`${namespace}/${name}`)?.until ?? this.#clock.now());
    return ends.length > 0 ? Math.max(0, Math.min(...ends) - this.#clock.now()) : undefined;
  }

  /** It may have changed. */
  forget(namespace: string, name: string): void {
    this.#known.delete(`${namespace}/${name}`);
  }

  async #facts(namespace: string, { name, key }: Need): Promise<SecretFacts> {
    const now = this.#clock.now();
    for (const [held, { until }] of this.#known) {
      if (until > now) break; // the oldest come first, more or less
      this.#known.delete(held);
    }
    const known = this.#known.get(`${namespace}/${name}`);
    if (known && known.until > now) return known.facts;
    const facts = await this.#look(namespace, name);
    const sound = facts.state === 'present' && (typeof key === 'string' ? facts.keys.has(key) : facts.tls !== undefined && 'facts' in facts.tls);
    this.#known.set(`${namespace}/${name}`, { facts, until: now + believedMs[facts.state === 'unreadable' ? 'unreadable' : sound ? 'sound' : 'faulty'] });
    return facts;
  }

  async #look(namespace: string, name: string): Promise<SecretFacts> {
    try {
      return factsOf(await this.#read(namespace, name));
    } catch (error) {
      if (hasCode(error, 404)) return { state: 'absent' };
      if (hasCode(error, 403)) return { state: 'unreadable' };
      throw error;
    }
  }
}
