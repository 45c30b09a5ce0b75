import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { clientTarget, collectionPath, type RestResource } from '../../../pkg/controller/apply.ts';
import { fromReflector, Informer, keyOf, splitKey } from '../../../pkg/controller/informer.ts';
import { WorkQueue } from '../../../pkg/controller/work-queue.ts';
import { certificates, issuers, type Certificate } from '../../../pkg/gateway/types.ts';
import type { KubeClient } from '../../../pkg/kube/client.ts';
import { createAuthority, type Authority } from '../../../pkg/server/certificates.ts';

const secrets: RestResource = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' };
const manager = 'cert-manager-certificates-issuing';
const hourMs = 3_600_000;

/**
 * A stand-in for cert-manager's controller, for tests: no Go module has that one. It fulfils each Certificate whose Issuer exists
 * with a real one of its own authority, as cert-manager would write it, but asks no ACME server, and renews nothing.
 */
export class TestIssuer {
  readonly authority: Authority;
  /** How long an order takes. */
  orderMs = 0;
  readonly #client: KubeClient;
  readonly #certificates: Informer<Certificate>;
  readonly #secrets: Informer;
  readonly #queue: WorkQueue;

  static async start(client: KubeClient): Promise<TestIssuer> {
    const issuer = new TestIssuer(client, await createAuthority({ commonName: 'test stand-in for an ACME server' }));
    await Promise.all([issuer.#certificates.synced, issuer.#secrets.synced]);
    issuer.#queue.start();
    return issuer;
  }

  private constructor(client: KubeClient, authority: Authority) {
    this.#client = client;
    this.authority = authority;
    this.#queue = new WorkQueue({ process: (key) => this.#fulfil(key), workers: 8, maxRetryMs: 500 });
    const watched = <T extends KubeObject>(resource: RestResource, labelSelector?: string): Informer<T> => new Informer<T>(fromReflector({ client, path: collectionPath(resource), labelSelector }));
    this.#certificates = watched<Certificate>(certificates);
    this.#secrets = watched(secrets, 'controller.cert-manager.io/fao=true');
    const add = (certificate: KubeObject): void => this.#queue.add(keyOf(certificate));
    this.#certificates.subscribe({ onAdd: add, onUpdate: (_, certificate) => add(certificate) });
    // One that is deleted is made anew, as long as its Certificate is there.
    this.#secrets.subscribe({ onDelete: ({ metadata }) => this.#queue.add(`${metadata.namespace}/${metadata.annotations?.['cert-manager.io/certificate-name']}`) });
    this.#certificates.start();
    this.#secrets.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#queue.stop(), this.#certificates.stop(), this.#secrets.stop()]);
  }

  async #fulfil(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const certificate = this.#certificates.get(namespace, name);
    if (!certificate || certificate.metadata.deletionTimestamp) return;
    const { secretName, dnsNames = [], issuerRef } = certificate.spec as Required<Certificate>['spec'] & { issuerRef: { name: string } };
    const held = this.#secrets.get(namespace, secretName);
    const isReady = certificate.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    if (isReady && held && isDeepStrictEqual(held.metadata.annotations?.['cert-manager.io/alt-names']?.split(','), dnsNames.toSorted())) return;
    await this.#client.json({ path: `${collectionPath(issuers, namespace)}/${issuerRef.name}` }); // else the key is tried again
    if (this.orderMs > 0) await sleep(this.orderMs);

    const [notBefore, notAfter] = [new Date(Date.now() - 60_000), new Date(Date.now() + 24 * hourMs)];
    const { certPem, keyPem } = await this.authority.issue({ commonName: name, dnsNames, usages: ['server'], notBefore, notAfter });
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const secret = {
      ...secrets,
      plural: undefined,
      metadata: {
        name: secretName,
        namespace,
        labels: { 'controller.cert-manager.io/fao': 'true' },
        annotations: {
          'cert-manager.io/alt-names': dnsNames.toSorted().join(','),
          'cert-manager.io/certificate-name': name,
          'cert-manager.io/issuer-group': 'cert-manager.io',
          'cert-manager.io/issuer-kind': 'Issuer',
          'cert-manager.io/issuer-name': issuerRef.name,
        },
      },
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': base64(certPem), 'tls.key': base64(keyPem), 'ca.crt': base64(this.authority.certPem) },
    } as unknown as KubeObject;
    await clientTarget(this.#client, secrets, manager).apply(secret);
    const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: 'Certificate is up to date and has not expired', lastTransitionTime: seconds(new Date()), observedGeneration: certificate.metadata.generation };
    await clientTarget(this.#client, certificates, manager).apply(
      {
        apiVersion: certificates.apiVersion,
        kind: certificates.kind,
        metadata: { name, namespace },
        status: { conditions: [ready], notBefore: seconds(notBefore), notAfter: seconds(notAfter), renewalTime: seconds(new Date(notAfter.getTime() - 8 * hourMs)), revision: (certificate.status?.revision ?? 0) + 1 },
      } as unknown as KubeObject,
      'status',
    );
  }
}

/** A time as Kubernetes writes it. */
const seconds = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;
