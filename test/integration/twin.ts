import assert from 'node:assert/strict';
import http from 'node:http';
import https from 'node:https';
import { parse } from 'yaml';
import type { Answer, Credentials } from '../../hack/controlplane/request.ts';
import type { KubectlOptions, KubectlResult } from '../../hack/local/kubectl.ts';
import { tenants } from '../../api/apps/v1alpha1/tenant.ts';
import { tenantGateways } from '../../api/gateway/v1alpha1/tenantgateway.ts';
import { customResourceDefinition } from '../../pkg/endpoints/documents/crd.ts';
import { cleanupFinalizer } from '../../pkg/tenant/names.ts';
import { eventually } from '../poll.ts';
import { type Cluster, sharedCluster } from './cluster.ts';

/** As long as the domain that it stands for, so that columns in what kubectl prints have one width. */
export const twinDomain = 'twinned.test';
const domain = 'cozystack.io';
const twinned = [tenants, tenantGateways].map((definition) => ({ ...definition, group: definition.group.replace(domain, twinDomain) }));

/** Commands and bodies are written with our groups; this is what the twin gets. */
const forTwin = (text: string): string => text.replaceAll(/(apps|gateway)\.cozystack\.io/g, `$1.${twinDomain}`);

/** Takes out of a text what must differ between two objects: identity, version, time, and what our loop adds. */
export const normalised = (text: string): string =>
  text
    .replaceAll(twinDomain, domain)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| [-+]\d{4})/g, '<time>')
    .replaceAll(/(resourceVersion\\?"?: ?\\?"?|Resource Version: +)\d+/g, '$1<version>')
    .replaceAll(/\b(\d+[smhd]){1,2}( +|$)/gm, '<age> ')
    .replaceAll(/\/(LIVE|MERGED)-\d+\//g, '/$1/')
    .replaceAll(/\n +finalizers:\n +- tenant\.cozystack\.io\/cleanup(?=\n)/g, '')
    .replaceAll(/\n +Finalizers:\n +tenant\.cozystack\.io\/cleanup(?=\n)/g, '')
    .replaceAll(/\n +"finalizers": \[\n +"tenant\.cozystack\.io\/cleanup"\n +\],(?=\n)/g, '')
    .replaceAll(/^( *[A-Z][\w ]*:) +/gm, '$1 ') // what describe aligns to the longest key, which may be of a line above
    .replaceAll(/\nEvents:[^]*?(?=\n\n\n|$)/g, ''); // only our objects have a controller that records any

export interface RawRequest {
  method?: string;
  path: string;
  /** Sent as it is; anything but text and bytes as JSON. */
  body?: unknown;
  headers?: http.OutgoingHttpHeaders;
  /** The administrator if left out. */
  credentials?: Credentials;
}

/** Our resources and, served by the kube-apiserver itself from CustomResourceDefinitions, their twins. */
export class Twin {
  readonly cluster: Cluster;

  constructor(cluster: Cluster) {
    this.cluster = cluster;
  }

  /** The same command on ours and on the twin; all that it said, normalised. */
  async both(args: readonly string[], { input, ...options }: KubectlOptions = {}): Promise<{ ours: KubectlResult; twin: KubectlResult }> {
    const run = async (translate: (text: string) => string): Promise<KubectlResult> => {
      const { code, stdout, stderr } = await this.cluster.kubectl.try(args.map(translate), {
        ...options,
        ...(input !== undefined && { input: translate(input) }),
      });
      return { code, stdout: normalised(stdout), stderr: normalised(stderr) };
    };
    const [ours, twin] = await Promise.all([run((text) => text), run(forTwin)]);
    return { ours, twin };
  }

  /** Fails unless a command says the same of ours as of the twin. @returns what it said, normalised */
  async same(args: readonly string[], options: KubectlOptions = {}): Promise<KubectlResult> {
    const { ours, twin } = await this.both(args, options);
    assert.deepEqual(ours, twin, `kubectl ${args.join(' ')}: ours, then the twin\n${JSON.stringify(ours)}\n${JSON.stringify(twin)}`);
    return ours;
  }

  /** The same, of a command that is to succeed. @returns what it printed */
  async sameOutput(args: readonly string[], options: KubectlOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.same(args, options);
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Makes an object of ours and its twin, and waits until both have the status that our loop gives. */
  async make(object: { kind: string; metadata: { namespace: string; name: string; labels?: Record<string, string> }; spec?: object }): Promise<void> {
    const definition = [tenants, tenantGateways].find(({ kind }) => kind === object.kind)!;
    const body = { apiVersion: `${definition.group}/${definition.version}`, ...object };
    await this.sameOutput(['create', '-f', '-'], { input: JSON.stringify(body) });
    await this.mirror(`${definition.plural}.${definition.group}`, object.metadata.namespace, object.metadata.name);
  }

  /** Gives the twin the status of ours, once that is up to date. */
  async mirror(resource: string, namespace: string, name: string): Promise<void> {
    const { kubectl } = this.cluster;
    const { status } = await eventually(`${resource} ${namespace}/${name} has a status`, async () => {
      const object = await kubectl.json(['get', resource, name, '-n', namespace]);
      return object.status?.observedGeneration === object.metadata.generation && object;
    });
    await kubectl.run(['patch', forTwin(resource), name, '-n', namespace, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]);
  }

  /** One request to the kube-apiserver, for ours. */
  request(request: RawRequest): Promise<Answer> {
    return send(this.cluster, request);
  }

  /** One request, for ours and for the twin. @returns both answers, ours as it came */
  async requestBoth(request: RawRequest): Promise<{ ours: Answer; twin: Answer }> {
    const { path, body } = request;
    const text = typeof body === 'string' ? forTwin(body) : body === undefined || body instanceof Uint8Array ? body : JSON.parse(forTwin(JSON.stringify(body)));
    return { ours: await this.request(request), twin: await this.request({ ...request, path: forTwin(path), body: text }) };
  }
}

/** What a client sees of an answer, without what must differ. */
export const seen = ({ status, headers, text }: Answer): object => {
  const warning = headers.warning as string | undefined;
  const type = headers['content-type'];
  const plain = normalised(text);
  const body: unknown = type?.startsWith('application/json') ? JSON.parse(plain) : type?.startsWith('application/yaml') ? parse(plain) : plain;
  return { status, type, ...(warning && { warning }), body: comparable(body) };
};

const comparable = (body: any): unknown => (body?.kind === 'Status' ? comparableStatus(body) : comparableObject(body));

/** An object without the marks of our loop; anything else as it is. */
const comparableObject = (body: any): unknown => {
  if (typeof body !== 'object' || body === null || !body.metadata) return body;
  const { finalizers, managedFields: _managedFields, ...metadata } = body.metadata;
  const kept = finalizers?.filter((finalizer: string) => finalizer !== cleanupFinalizer);
  return { ...body, metadata: { ...metadata, ...(kept?.length && { finalizers: kept }) } };
};

/** Several causes come in any order. What a message quotes of the request or of the object differs, as they do. */
const comparableStatus = (status: any): object => {
  const { causes } = status.details ?? {};
  const text = (message: string): string =>
    message
      .replace(/Invalid value: "\{.*\}": /s, 'Invalid value: <object>: ')
      .replace(/(Invalid value: <object>: Object 'Kind' is missing in )'\{.*\}'/s, '$1<object>')
      .replace(/ \([^()]* \.\.\.\)$/, ' <summary>')
      .replaceAll(/, application\/vnd\.kubernetes\.protobuf(;stream=watch)?/g, '') // we speak no protobuf
      .replace(/in record \(\d+\)/, 'in record');
  const sorted = causes?.map((cause: any) => ({ ...cause, message: text(cause.message) })).toSorted((a: any, b: any) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return {
    ...status,
    message: causes?.length > 1 ? '<causes>' : text(status.message),
    ...(status.details && { details: { ...status.details, ...(causes && { causes: sorted }) } }),
  };
};

const send = ({ controlPlane }: Cluster, { method = 'GET', path, body, headers = {}, credentials = controlPlane.admin }: RawRequest): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const payload = body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const options: https.RequestOptions = {
      method,
      agent: false,
      ca: controlPlane.caPem,
      timeout: 30_000,
      ...('certPem' in credentials && { cert: credentials.certPem, key: credentials.keyPem }),
      headers: {
        accept: 'application/json',
        ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
        ...('token' in credentials && { authorization: `Bearer ${credentials.token}` }),
        ...headers,
      },
    };
    const request = https.request(new URL(path, controlPlane.url), options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) });
      });
    });
    request.on('timeout', () => request.destroy(new Error('no answer within 30 s')));
    request.on('error', reject);
    request.end(payload);
  });

let twin: Promise<Twin> | undefined;

/** The cluster that the tests share, with the twins installed. */
export const sharedTwin = (): Promise<Twin> => {
  twin ??= install();
  return twin;
};

const install = async (): Promise<Twin> => {
  const cluster = await sharedCluster();
  const { kubectl } = cluster;
  const crds = twinned.map((definition) => customResourceDefinition(definition));
  await kubectl.run(['apply', '--server-side', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: crds }) });
  await kubectl.run(['wait', '--for=condition=Established', '--timeout=60s', ...crds.map(({ metadata }) => `crd/${metadata.name}`)], { timeoutMs: 70_000 });
  // The documents follow the resources after a moment.
  for (const { group, version, kind } of twinned) {
    await eventually(`${group} is in the OpenAPI document`, async () => {
      const { status, text } = await cluster.controlPlane.request({ path: `/openapi/v3/apis/${group}/${version}` });
      return status === 200 && text.includes(`.${kind}"`);
    });
    await eventually(`${group} is in the discovery document`, async () => (await kubectl.run(['api-versions'])).includes(group));
  }
  return new Twin(cluster);
};
