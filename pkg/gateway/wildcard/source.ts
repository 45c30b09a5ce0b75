import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import type { Informer } from '../../controller/informer.ts';
import { rootNamespace } from '../../tenant/names.ts';
import { asMap, parseValues, valuesName } from '../../tenant/values.ts';
import { isHost } from '../hostnames.ts';
import { tlsType, type Secret } from '../secrets/facts.ts';

/** What the platform says of the operator's wildcard certificate. */
export type Wish =
  /** Nothing, or nothing that can be understood: everything stays as it is. */
  | { state: 'unsaid' }
  /** There is to be none. */
  | { state: 'off' }
  | { state: 'on'; namespace: string; name: string };

/** The wish, with the Secret that it names: undefined where it is not there, or is of another type. */
export type Source = Exclude<Wish, { state: 'on' }> | { state: 'on'; namespace: string; name: string; secret: Secret | undefined };

/**
 * The wish in Secrets `cozystack-values`, of which the first that exists counts: the platform's, else what root hands down.
 * `wildcard-secret-namespace` says where the Secret is; without it `expose-ingress` does, as in Cozystack; and else it is tenant-root.
 */
export const wishOf = (values: readonly (KubeObject | undefined)[]): Wish => {
  const found = values.find((secret) => secret !== undefined);
  const { 'wildcard-secret-name': name, 'wildcard-secret-namespace': stated, 'expose-ingress': ingress } = (found && clusterOf(found)) ?? {};
  if (name === '') return { state: 'off' };
  const namespace = [stated, ingress].find((value) => value !== undefined && value !== '') ?? rootNamespace;
  return isName(name) && isName(namespace) ? { state: 'on', namespace, name } : { state: 'unsaid' };
};

/** Whether something may name a namespace or a Secret. */
const isName = (value: unknown): value is string => typeof value === 'string' && isHost(value);

const clusterOf = ({ data }: KubeObject): Readonly<Record<string, unknown>> | undefined => {
  const text = (data as Record<string, unknown> | undefined)?.['values.yaml'];
  try {
    return typeof text === 'string' ? asMap(asMap(parseValues(Buffer.from(text, 'base64').toString('utf8')))?.['_cluster']) : undefined;
  } catch {
    return undefined; // the error may quote what it could not parse
  }
};

export interface WildcardSourceOptions {
  /** Of Secrets `cozystack-values`, wherever they are. */
  values: Informer;
  /** The server's own. */
  namespace: string;
  /** A cache of one Secret, not started. */
  cacheOf: (namespace: string, name: string) => Informer<Secret>;
}

/** Follows the wish, and the Secret that it names, so that a new certificate is replicated when it comes. */
export class WildcardSource {
  /** Told when the wish or the Secret is another than before. */
  onChange: () => void = () => undefined;
  /** Resolves once it is known what the platform says. */
  readonly settled: Promise<void>;
  readonly #options: WildcardSourceOptions;
  readonly #places: readonly string[];
  #wish: Wish = { state: 'unsaid' };
  #cache: Informer<Secret> | undefined;
  #isStarted = false;
  #isSettled = false;

  constructor(options: WildcardSourceOptions) {
    this.#options = options;
    this.#places = [options.namespace, rootNamespace];
    const again = ({ metadata }: KubeObject): void => {
      if (this.#places.includes(metadata.namespace!)) this.#follow();
    };
    options.values.subscribe({ onAdd: again, onUpdate: (_old, secret) => again(secret), onDelete: again });
    this.settled = options.values.settled.then(() => {
      this.#isSettled = true; // before that, nothing is known to be missing
      this.#follow();
    });
  }

  get source(): Source {
    if (this.#wish.state !== 'on') return this.#wish;
    const { namespace, name } = this.#wish;
    const secret = this.#cache?.get(namespace, name);
    return { ...this.#wish, secret: secret?.type === tlsType && !secret.metadata.deletionTimestamp ? secret : undefined };
  }

  /** The right to see the Secret was given. */
  begin(): void {
    if (this.#isStarted || !this.#cache) return;
    this.#isStarted = true;
    this.#cache.start();
  }

  async stop(): Promise<void> {
    await this.#cache?.stop();
  }

  #follow(): void {
    const { values, cacheOf } = this.#options;
    if (!this.#isSettled) return;
    const wish = wishOf(this.#places.map((place) => values.get(place, valuesName)));
    if (isDeepStrictEqual(wish, this.#wish)) return;
    this.#wish = wish;
    void this.#cache?.stop();
    this.#isStarted = false;
    this.#cache = undefined;
    if (wish.state === 'on') {
      const cache = cacheOf(wish.namespace, wish.name);
      const changed = (): void => void (this.#cache === cache && this.onChange());
      this.#cache = cache;
      cache.subscribe({ onAdd: changed, onUpdate: changed, onDelete: changed });
    }
    this.onChange();
  }
}
