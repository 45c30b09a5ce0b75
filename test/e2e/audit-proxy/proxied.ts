import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Child } from '../../../hack/controlplane/child.ts';
import { call } from '../../../hack/controlplane/request.ts';
import { freePorts } from '../../../hack/controlplane/ports.ts';
import { handBack, handOver, installProxy, proxyFiles, proxyProcess, type ProxyFiles } from '../../../hack/local/audit-proxy.ts';
import { apiServices } from '../../../hack/local/product.ts';
import type { Event } from '../../../pkg/audit/event.ts';
import type { Cluster } from '../../integration/cluster.ts';
import { atEnd } from '../../lifecycle.ts';
import { eventually } from '../../poll.ts';

/** Longer than the kube-apiserver takes to judge an APIService anew. */
const settledMs = 2000;

const lookAgainMs = 3000;

/** A condition of an APIService, as far as tests look at it. */
export interface Availability {
  status: string;
  reason: string;
  message: string;
}

/** An audit proxy beside the server of a cluster, and the ways to put it in front. */
export class Proxied {
  readonly cluster: Cluster;
  readonly files: ProxyFiles;
  readonly port: number;
  readonly metricsPort: number;
  readonly auditLog: string;
  readonly logFile: string;
  #process: Child | undefined;
  #looked = 0;

  /** Installs the proxy's objects; nothing is started, and nobody is sent to it. */
  static async beside(cluster: Cluster): Promise<Proxied> {
    await installProxy(cluster.controlPlane);
    const [port, metricsPort] = (await freePorts(2)) as [number, number];
    return new Proxied(cluster, await proxyFiles(cluster.controlPlane), port, metricsPort);
  }

  private constructor(cluster: Cluster, files: ProxyFiles, port: number, metricsPort: number) {
    this.metricsPort = metricsPort;
    this.cluster = cluster;
    this.files = files;
    this.port = port;
    this.auditLog = path.join(cluster.controlPlane.directory, `audit-${port}.log`);
    this.logFile = path.join(cluster.controlPlane.directory, 'logs', `audit-proxy-${port}.log`);
    atEnd(() => this.#process?.stop('SIGKILL'));
  }

  /** Starts the proxy, or starts it anew with other flags; resolves once it is ready. Throws with its log where it ends before. */
  async start(args: readonly string[] = []): Promise<void> {
    await this.#process?.stop();
    const { files, port, metricsPort, cluster, auditLog, logFile } = this;
    this.#process = proxyProcess({ files, port, metricsPort, serverPort: cluster.port, auditLog, logFile, args });
    await this.#process.start();
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  handOver(): Promise<void> {
    return handOver(this.cluster.controlPlane, this.port);
  }

  handBack(): Promise<void> {
    return handBack(this.cluster.controlPlane, this.cluster.port);
  }

  async availability(name: string): Promise<Availability> {
    const answer = await this.cluster.controlPlane.request({ path: `/apis/apiregistration.k8s.io/v1/apiservices/${name}` });
    const conditions = answer.json<{ status?: { conditions?: (Availability & { type: string })[] } }>().status?.conditions ?? [];
    const { status, reason, message } = conditions.find(({ type }) => type === 'Available') ?? { status: 'Unknown', reason: '', message: '' };
    return { status, reason, message };
  }

  /** Resolves once both APIServices are judged as wanted, and gives the first one's condition. A change makes the kube-apiserver look at once. */
  async judged(what: string, wanted: (availability: Availability) => boolean): Promise<Availability> {
    return eventually(`both APIServices are ${what}`, async () => {
      await this.lookAgain();
      const all = await Promise.all(apiServices.map((name) => this.availability(name)));
      if (!all.every(wanted)) throw new Error(JSON.stringify(all));
      return all[0];
    }, { withinMs: 90_000, everyMs: 500 });
  }

  /** Resolves once both APIServices trust whom they point at, are available, and have stayed so: what was judged before a change may still be told for a moment. */
  available(): Promise<void> {
    return this.#staysSo('both APIServices are available, and stay so', (name) => this.#unavailable(name));
  }

  /** Resolves once the kube-apiserver's own probes succeed, and go on to: whether others are let in is another matter. */
  probed(): Promise<void> {
    return this.#staysSo('both APIServices are probed again and again, and available', async (name) => {
      await this.lookAgain();
      const { status, message } = await this.availability(name);
      return status === 'True' ? undefined : `${name}: ${message}`;
    });
  }

  async #staysSo(what: string, faultOf: (name: string) => Promise<string | undefined>): Promise<void> {
    let since: number | undefined;
    await eventually(what, async () => {
      const faults = await Promise.all(apiServices.map(faultOf));
      const fault = faults.find((found) => found !== undefined);
      if (fault !== undefined) {
        since = undefined;
        throw new Error(fault);
      }
      since ??= Date.now();
      return Date.now() - since > settledMs;
    }, { withinMs: 90_000, everyMs: 250 });
  }

  async #unavailable(name: string): Promise<string | undefined> {
    const { controlPlane } = this.cluster;
    const { spec } = (await controlPlane.request({ path: `/apis/apiregistration.k8s.io/v1/apiservices/${name}` })).json();
    const secret = await controlPlane.request({ path: `/api/v1/namespaces/cozy-system/secrets/${spec.service.name}-serving` });
    if (secret.json().data?.['ca.crt'] !== spec.caBundle) return `${name} does not trust ${spec.service.name}`;
    const { status, message } = await this.availability(name);
    if (status !== 'True') return `${name}: ${message}`;
    const answer = await controlPlane.request({ path: `/apis/${spec.group}/${spec.version}` });
    return answer.status === 200 ? undefined : `${name}: ${answer.status} ${answer.text}`;
  }

  /** Has the kube-apiserver judge both APIServices anew: what was found bad is looked at again only after a while, unless it changes. */
  async lookAgain(): Promise<void> {
    if (Date.now() - this.#looked < lookAgainMs) return; // it writes what it found, and must not find another version each time
    this.#looked = Date.now();
    for (const name of apiServices) {
      await this.cluster.controlPlane.request({
        method: 'PATCH',
        path: `/apis/apiregistration.k8s.io/v1/apiservices/${name}`,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { metadata: { annotations: { 'test.example.org/looked-at': String(this.#looked) } } },
      });
    }
  }

  /** What the proxy recorded so far. */
  async events(): Promise<Event[]> {
    const text = await readFile(this.auditLog, 'utf8').catch(() => '');
    return text.split('\n').filter(Boolean).map((line) => JSON.parse(line) as Event);
  }

  /** A recorded event, once it is there. */
  event(what: string, wanted: (event: Event) => boolean): Promise<Event> {
    return eventually(`an audit event of ${what}`, async () => (await this.events()).find(wanted));
  }

  /** The proxy's metrics, as Prometheus reads them. */
  async metrics(): Promise<string> {
    return (await call({ url: `http://127.0.0.1:${this.metricsPort}`, credentials: { anonymous: true } }, { path: '/metrics' })).text;
  }

  log(): Promise<string> {
    return readFile(this.logFile, 'utf8');
  }

  /** Puts another content into one of the proxy's files. */
  replace(file: keyof ProxyFiles, text: string): Promise<void> {
    return this.replaceFile(this.files[file], text);
  }

  replaceFile(file: string, text: string): Promise<void> {
    return writeFile(file, text);
  }
}
