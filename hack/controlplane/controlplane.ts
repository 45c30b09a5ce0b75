import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Authority, KeyPair, KeyType } from '../../pkg/server/certificates.ts';
import { apiserverArguments, controllerManagerArguments, etcdArguments, type Layout } from './arguments.ts';
import { Child } from './child.ts';
import { type Components, findComponents } from './components.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { createPki, frontProxyName, type Pki } from './pki.ts';
import { freePorts } from './ports.ts';
import { type Answer, call, type Call, type Credentials, type Target } from './request.ts';

export interface ControlPlaneOptions {
  /** Holds data, certificates and logs; made if missing. What an earlier control plane stored there is kept. */
  directory: string;
  /** `ecdsa` if left out. */
  frontProxyKeyType?: KeyType;
  /** Receives a line for each step; nothing is printed if left out. */
  log?: (line: string) => void;
  /** Added to the kube-apiserver's own flags, and stronger. */
  apiserverArgs?: readonly string[];
  controllerManagerArgs?: readonly string[];
  /** Whether etcd waits for the disk. False if left out: the data does not survive a power failure. */
  fsync?: boolean;
  /** Found or built if left out. */
  components?: Components;
}

/** The parts that run, in the order in which they start. */
const parts = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const;
export type Part = (typeof parts)[number];

/** A running etcd, kube-apiserver and kube-controller-manager on loopback, which end with this process. */
export class ControlPlane {
  readonly directory: string;
  /** Of the kube-apiserver: `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** The authority of the kube-apiserver's serving certificate. */
  readonly caPem: string;
  /** Of a user in `system:masters`. */
  readonly kubeconfigPath: string;
  readonly kubectlPath: string;
  /** The administrator's client certificate. */
  readonly admin: KeyPair;
  /** Issues client certificates that the kube-apiserver accepts: common name is the user, organizations are the groups. */
  readonly clientAuthority: Authority;
  /** The front proxy: what aggregated servers see as the client, and the authority behind it. */
  readonly frontProxy: { readonly authority: Authority; readonly client: KeyPair; readonly allowedName: string };
  readonly #children: Readonly<Record<Part, Child>>;
  readonly #etcdPort: number;

  /** Resolves once kube-apiserver and kube-controller-manager report ready. Throws with the tail of the log at fault. */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const log = options.log ?? ((): void => {});
    const components = options.components ?? (await findComponents({ log }));
    const directory = path.resolve(options.directory);
    await mkdir(path.join(directory, 'logs'), { recursive: true });
    const [pki, ports] = await Promise.all([createPki(path.join(directory, 'pki'), options.frontProxyKeyType ?? 'ecdsa'), freePorts(4)]);
    const [etcd, etcdPeer, apiserver, controllerManager] = ports as [number, number, number, number];
    const layout: Layout = {
      directory,
      files: pki.files,
      controllerManagerKubeconfig: path.join(directory, 'controller-manager.kubeconfig'),
      ports: { etcd, etcdPeer, apiserver, controllerManager },
    };
    const controlPlane = new ControlPlane(layout, pki, components, options);
    const { url, caPem } = controlPlane;
    await writeKubeconfig(layout.controllerManagerKubeconfig, { url, caPem, credentials: pki.controllerManager });
    await writeKubeconfig(controlPlane.kubeconfigPath, { url, caPem, credentials: pki.admin });
    try {
      for (const part of parts) {
        const began = Date.now();
        await controlPlane.#children[part].start();
        log(`${part}: ready after ${((Date.now() - began) / 1000).toFixed(1)} s`);
      }
    } catch (error) {
      await controlPlane.stop();
      throw error;
    }
    return controlPlane;
  }

  private constructor(layout: Layout, pki: Pki, components: Components, options: ControlPlaneOptions) {
    const { directory, ports } = layout;
    this.directory = directory;
    this.#etcdPort = ports.etcd;
    this.url = `https://127.0.0.1:${ports.apiserver}`;
    this.caPem = pki.servers.certPem;
    this.kubeconfigPath = path.join(directory, 'kubeconfig');
    this.kubectlPath = components.kubectl;
    this.admin = pki.admin;
    this.clientAuthority = pki.clients;
    this.frontProxy = { authority: pki.frontProxies, client: pki.frontProxy, allowedName: frontProxyName };
    const child = (name: Part, args: string[], ready: () => Promise<boolean>): Child => new Child({
      name, executable: components[name], args, ready, log: options.log,
      logFile: path.join(directory, 'logs', `${name}.log`),
      // It gives up when the kube-apiserver is away at the wrong moment, and counts on being started again.
      restart: name === 'kube-controller-manager',
    });
    const answers = async (target: Target, probe: string, text = ''): Promise<boolean> => {
      const answer = await call(target, { path: probe });
      return answer.status === 200 && answer.text.includes(text);
    };
    this.#children = {
      etcd: child('etcd', etcdArguments(layout, options.fsync ?? false),
        () => answers({ url: `http://127.0.0.1:${ports.etcd}`, credentials: { anonymous: true } }, '/health')),
      'kube-apiserver': child('kube-apiserver', [...apiserverArguments(layout), ...(options.apiserverArgs ?? [])],
        () => answers({ url: this.url, caPem: this.caPem, credentials: this.admin }, '/readyz')),
      'kube-controller-manager': child('kube-controller-manager', [...controllerManagerArguments(layout), ...(options.controllerManagerArgs ?? [])],
        () => answers({ url: `https://127.0.0.1:${ports.controllerManager}`, trustAnyServer: true, credentials: { anonymous: true } },
          // It calls itself healthy long before; controllers are listed from when they run.
          '/healthz?verbose', '[+]garbage-collector-controller ok')),
    };
  }

  /** Ends everything. Data and logs stay. */
  async stop(): Promise<void> {
    // Only etcd holds state, so only etcd is asked.
    await Promise.all([this.#children['kube-controller-manager'].stop('SIGKILL'), this.#children['kube-apiserver'].stop('SIGKILL')]);
    await this.#children.etcd.stop();
  }

  /**
   * Stops one part and leaves the others running. At once, like a crash, if no signal is given: a graceful stop takes up
   * to ten seconds while clients hold watches.
   */
  stopComponent(part: Part, signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<void> {
    return this.#children[part].stop(signal);
  }

  /** Starts a stopped part again, with the same port and data; resolves once it is ready. */
  startComponent(part: Part): Promise<void> {
    return this.#children[part].start();
  }

  /** Has etcd forget all versions but the newest, as the kube-apiserver does with what is older than five minutes. */
  async compact(): Promise<void> {
    const { header: { revision } } = await this.etcd<{ header: { revision: string } }>('range', { key: Buffer.from('/').toString('base64') });
    await this.etcd('compaction', { revision, physical: true });
  }

  /** A request to etcd's key-value service, past the kube-apiserver; keys and values are base64. Throws unless it is answered with 200. */
  async etcd<T>(operation: 'range' | 'put' | 'compaction', body: object): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${this.#etcdPort}/v3/kv/${operation}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd: ${operation}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** The process of a part, undefined while it is stopped. */
  pidOf(part: Part): number | undefined {
    return this.#children[part].pid;
  }

  /** The last lines of a part's log. */
  logTail(part: Part, lines = 40): Promise<string> {
    return this.#children[part].logTail(lines);
  }

  /** Writes a kubeconfig for a user and returns its path; `name` tells several of them apart. */
  async kubeconfigFor(credentials: Credentials, name: string): Promise<string> {
    const folder = path.join(this.directory, 'kubeconfigs');
    await mkdir(folder, { recursive: true });
    const file = path.join(folder, `${encodeURIComponent(name)}.kubeconfig`);
    await writeKubeconfig(file, { url: this.url, caPem: this.caPem, credentials });
    return file;
  }

  /** One request to the kube-apiserver, as the administrator unless told otherwise. Error statuses do not throw. */
  request(request: Call, credentials: Credentials = this.admin): Promise<Answer> {
    return call({ url: this.url, caPem: this.caPem, credentials }, request);
  }
}
