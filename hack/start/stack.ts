import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { leaseName } from '../../pkg/controller/permissions.ts';
import type { Child } from '../controlplane/child.ts';
import { findComponents, type Components } from '../controlplane/components.ts';
import { ControlPlane, type Part } from '../controlplane/controlplane.ts';
import { freePorts } from '../controlplane/ports.ts';
import { handOver, installProxy, proxyAccount, proxyFiles, proxyProcess } from '../local/audit-proxy.ts';
import { apiServices, foreignCrds, installForeignCrds, installManifests, serverKubeconfig, serverProcess } from '../local/product.ts';
import { applyExample, waitForExample } from './example.ts';
import { messageOf } from './answers.ts';
import type { RunFolder } from './run-folder.ts';

const run = promisify(execFile);

/** What has to run from the time it was started; kube-controller-manager is started again by itself. */
const lastingParts: readonly Part[] = ['etcd', 'kube-apiserver'];
const restarting: Part = 'kube-controller-manager';
const server = 'tenant-apiserver';
const auditProxy = 'audit-proxy';
/** So many restarts within a minute are a fault. */
const tolerableRestarts = 3;
const lookEveryMs = 300;
const pollMs = 100;
const graceMs = 5000;

/** Found, built or downloaded: what a start needs and keeps from then on. */
export interface Ingredients {
  components: Components;
  crds: string[];
}

/** May take many minutes on a machine where nothing was prepared, and a second otherwise. */
export const prepare = async (log: (line: string) => void): Promise<Ingredients> => {
  const components = await findComponents({ log });
  return { components, crds: await foreignCrds() };
};

/** The control plane with the product and the example tree on it. */
export class Stack {
  readonly #folder: RunFolder;
  readonly #log: (line: string) => void;
  #controlPlane: ControlPlane | undefined;
  /** tenant-apiserver and, where asked for, audit-proxy, by name. Those that were ready once are to run on. */
  readonly #servers = new Map<string, Child>();
  readonly #ready = new Set<string>();
  #stopping = false;
  #underWay: Promise<unknown> = Promise.resolve();
  #waitingFor = 'the control plane';

  readonly #withAuditProxy: boolean;

  constructor(folder: RunFolder, log: (line: string) => void, { auditProxy: withAuditProxy = false }: { auditProxy?: boolean } = {}) {
    this.#folder = folder;
    this.#log = log;
    this.#withAuditProxy = withAuditProxy;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** What a start that takes too long is at. */
  get waitingFor(): string {
    return this.#waitingFor;
  }

  /** Resolves once the tree is complete, or early when stopped. Throws with the reason. */
  start(ingredients: Ingredients): Promise<void> {
    const started = this.#start(ingredients);
    this.#underWay = started.catch(() => undefined);
    return started;
  }

  async #start({ components, crds }: Ingredients): Promise<void> {
    await this.#folder.claim(await versionsOf(components));
    await this.#folder.linkKubectl(components.kubectl);
    const controlPlane = await ControlPlane.start({ directory: this.#folder.directory, components, log: this.#log });
    this.#controlPlane = controlPlane;
    await this.#forgetFormerStart(controlPlane);
    const [port] = (await freePorts(1)) as [number];
    const steps: (() => Promise<void>)[] = this.#folder.kept && (await hasServiceAccount(controlPlane))
      ? [() => Promise.all([this.#install(controlPlane, crds, port), this.#serve(controlPlane, port)]).then(() => undefined)]
      : [() => this.#install(controlPlane, crds, port), () => this.#serve(controlPlane, port)];
    for (const step of [...steps, () => this.#aggregate(controlPlane), ...(this.#withAuditProxy ? [() => this.#putProxyInFront(controlPlane, port)] : []), () => this.#plant(controlPlane)]) {
      if (this.#stopping) return;
      await step();
    }
  }

  /** What an earlier start left in the cluster about processes that are gone. */
  async #forgetFormerStart(controlPlane: ControlPlane): Promise<void> {
    if (!this.#folder.kept) return;
    // The kube-apiserver adds this start's authorities to those of all earlier ones. Without it, it writes its own alone.
    await remove(controlPlane, '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication');
    // Whoever holds it was ended without giving it back, and a new server would wait until it expires.
    await remove(controlPlane, `/apis/coordination.k8s.io/v1/namespaces/cozy-system/leases/${leaseName}`);
  }

  async #install(controlPlane: ControlPlane, crds: readonly string[], port: number): Promise<void> {
    this.#waitingFor = 'CustomResourceDefinitions and manifests';
    const began = Date.now();
    const digest = createHash('sha256').update(crds.join()).digest('hex');
    // Applying these keeps the kube-apiserver busy for seconds, even where nothing changes.
    if ((await this.#folder.recall('crds.sha256')) !== digest || !(await areThere(controlPlane, crds))) {
      await installForeignCrds(controlPlane, crds);
      await this.#folder.note('crds.sha256', digest);
      this.#log(`CustomResourceDefinitions of Gateway API and cert-manager: installed after ${since(began)}`);
    }
    await installManifests(controlPlane, port);
    this.#log(`manifests: applied after ${since(began)}`);
  }

  async #serve(controlPlane: ControlPlane, port: number): Promise<void> {
    this.#waitingFor = server;
    const began = Date.now();
    const kubeconfig = await serverKubeconfig(controlPlane);
    await this.#run(server, serverProcess({ controlPlane, port, kubeconfig, logFile: path.join(this.#folder.logs, `${server}.log`), args: this.#withAuditProxy ? [`--trusted-proxy-user=${proxyAccount}`] : [], log: this.#log }));
    this.#log(`${server}: ready after ${since(began)}`);
  }

  async #run(name: string, child: Child): Promise<void> {
    this.#servers.set(name, child);
    if (this.#stopping) return;
    await child.start();
    this.#ready.add(name);
  }

  /** Starts the proxy, and has the kube-apiserver send both APIServices to it. */
  async #putProxyInFront(controlPlane: ControlPlane, serverPort: number): Promise<void> {
    this.#waitingFor = auditProxy;
    const began = Date.now();
    await installProxy(controlPlane);
    const files = await proxyFiles(controlPlane);
    const [port, metricsPort] = (await freePorts(2)) as [number, number];
    const auditLog = path.join(this.#folder.logs, 'audit.log');
    await this.#run(auditProxy, proxyProcess({ files, port, metricsPort, serverPort, auditLog, logFile: path.join(this.#folder.logs, `${auditProxy}.log`), log: this.#log }));
    if (this.#stopping) return;
    await handOver(controlPlane, port);
    this.#log(`${auditProxy}: in front after ${since(began)}; its events are in ${auditLog}`);
    await this.#aggregate(controlPlane);
  }

  /** Resolves once the kube-apiserver reaches the server, and the server leads. */
  async #aggregate(controlPlane: ControlPlane): Promise<void> {
    const began = Date.now();
    for (const name of apiServices) {
      // A failed look at an APIService is repeated seconds later, unless it changes.
      const body = { metadata: { annotations: { 'tenant-apiserver.local/started': new Date().toISOString() } } };
      const answer = await controlPlane.request({ method: 'PATCH', path: `/apis/apiregistration.k8s.io/v1/apiservices/${name}`, headers: { 'content-type': 'application/merge-patch+json' }, body });
      if (answer.status !== 200) throw new Error(`APIService ${name} cannot be changed: ${messageOf(answer)}`);
    }
    const lease = `/apis/coordination.k8s.io/v1/namespaces/cozy-system/leases/${leaseName}`;
    for (const path of ['/apis/apps.cozystack.io/v1alpha1/tenants?limit=1', '/apis/gateway.cozystack.io/v1alpha1/tenantgateways?limit=1', lease]) {
      for (;;) {
        const answer = await controlPlane.request({ path });
        if (answer.status === 200 || this.#stopping) break;
        this.#waitingFor = `GET ${path}: ${messageOf(answer)}`;
        await setTimeout(pollMs);
      }
    }
    this.#log(`APIServices: available after ${since(began)}`);
  }

  async #plant(controlPlane: ControlPlane): Promise<void> {
    const began = Date.now();
    const waiting = (what: string): void => void (this.#waitingFor = what);
    const stopped = (): boolean => this.#stopping;
    await applyExample((request) => controlPlane.request(request), stopped, waiting);
    await waitForExample((request) => controlPlane.request(request), stopped, waiting);
    this.#log(`example tree: complete after ${since(began)}`);
  }

  /** The processes that run now, by name. */
  processes(): Record<string, number> {
    const pids: [string, number | undefined][] = [...lastingParts, restarting].map((part) => [part, this.#controlPlane?.pidOf(part)]);
    return Object.fromEntries([...pids, ...[...this.#servers].map(([name, child]): [string, number | undefined] => [name, child.pid])].filter((entry): entry is [string, number] => entry[1] !== undefined));
  }

  /** Says which process ended that ought to run, with the end of its log; undefined where all is well. */
  async fault(): Promise<string | undefined> {
    if (this.#stopping) return undefined;
    const running = this.processes();
    const dead = this.#controlPlane ? lastingParts.find((part) => running[part] === undefined) : undefined;
    if (dead) return this.#obituary(dead, await this.#controlPlane!.logTail(dead));
    const silent = [...this.#ready].find((name) => running[name] === undefined);
    return silent === undefined ? undefined : this.#obituary(silent, await this.#servers.get(silent)!.logTail());
  }

  /** Rejects when a process ended that ought to run; never resolves but when stopped. */
  async watch(): Promise<void> {
    let seen: number | undefined;
    let restarts: number[] = [];
    let recorded = '';
    while (!this.#stopping) {
      await setTimeout(lookEveryMs);
      const fault = await this.fault();
      if (fault !== undefined) throw new Error(fault);
      const processes = this.processes();
      if (JSON.stringify(processes) !== recorded && !this.#stopping) {
        recorded = JSON.stringify(processes);
        await this.#folder.record(processes);
      }
      const now = processes[restarting];
      if (now === undefined || now === seen) continue;
      if (seen !== undefined) restarts = [...restarts.filter((at) => at > Date.now() - 60_000), Date.now()];
      if (restarts.length > tolerableRestarts) throw new Error(this.#obituary(restarting, await this.#controlPlane!.logTail(restarting)));
      seen = now;
    }
  }

  #obituary(name: string, tail: string): string {
    return `${name} ended by itself; the end of ${path.join(this.#folder.logs, `${name}.log`)}:\n${tail}`;
  }

  /** Ends everything, what is still being started included. Data and logs stay. */
  async stop(): Promise<void> {
    this.#stopping = true;
    // A control plane that is half started cannot be stopped; what is not over by then ends with this process.
    await Promise.race([this.#underWay, setTimeout(graceMs, undefined, { ref: false })]);
    await this.#servers.get(auditProxy)?.stop();
    await this.#servers.get(server)?.stop();
    await this.#controlPlane?.stop();
  }
}

const since = (began: number): string => `${((Date.now() - began) / 1000).toFixed(1)} s`;

const versionsOf = async ({ 'kube-apiserver': apiserver, etcd }: Components): Promise<{ kubernetes: string; etcd: string }> => {
  const [kubernetes, store] = await Promise.all([apiserver, etcd].map(async (executable) => /\d+\.\d+\.\d+/.exec((await run(executable, ['--version'])).stdout)?.[0]));
  return { kubernetes: kubernetes ?? 'unknown', etcd: store ?? 'unknown' };
};

const hasServiceAccount = async (controlPlane: ControlPlane): Promise<boolean> =>
  (await controlPlane.request({ path: '/api/v1/namespaces/cozy-system/serviceaccounts/tenant-apiserver' })).status === 200;

const areThere = async (controlPlane: ControlPlane, crds: readonly string[]): Promise<boolean> => {
  const headers = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' };
  const answer = await controlPlane.request({ path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', headers });
  const names = new Set(answer.json<{ items?: { metadata: { name: string } }[] }>().items?.map(({ metadata }) => metadata.name));
  return crds.every((document) => names.has(/^ {2}name: "?([\w.-]+)"?$/m.exec(document)?.[1] ?? ''));
};

const remove = async (controlPlane: ControlPlane, object: string): Promise<void> => {
  const answer = await controlPlane.request({ method: 'DELETE', path: object });
  if (answer.status !== 200 && answer.status !== 404) throw new Error(`${object} cannot be deleted: ${messageOf(answer)}`);
};
