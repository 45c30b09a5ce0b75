import { readFile } from 'node:fs/promises';
import { loadRestConfig, type RestConfig } from '../kube/config.ts';
import { AuditOptions, type AuditConfig } from '../server/audit-options.ts';
import { booleanValue, Flags, integerValue, type Flag } from '../server/flags.ts';
import { logLevels } from '../server/options.ts';
import { parseConfig, type FieldKind } from './config-file.ts';
import { defaultPolicy } from './default-policy.ts';
import { extrasModes, type ExtrasMode, type Projection } from './identity.ts';
import { apiServiceNames, backendCaSecretName } from './permissions.ts';

const tlsModes = ['self-signed', 'cert-manager', 'existing-secret'] as const;
export type TlsMode = (typeof tlsModes)[number];

/** What the proxy runs with. */
export interface ProxyConfig {
  readonly server: {
    readonly bindAddress: string;
    readonly port: number;
    /** The proxy's own. */
    readonly namespace: string;
    readonly serviceName: string;
    readonly shutdownDelaySeconds: number;
    readonly tls: { readonly mode: TlsMode; readonly certFile: string; readonly keyFile: string };
    /** Those whose caBundle the proxy keeps, in mode self-signed. */
    readonly apiServices: readonly string[];
  };
  readonly backend: {
    readonly url: URL;
    readonly responseTimeoutMs: number;
    readonly tokenFile: string;
    readonly projection: Projection;
    readonly tls: { readonly insecureSkipVerify: boolean; readonly caFile: string; readonly caSecretName: string; readonly serverName: string };
  };
  /** Plain HTTP. */
  readonly metrics: { readonly bindAddress: string; readonly port: number };
  readonly audit: AuditConfig;
  readonly maxBodyBytes: number;
  readonly logLevel: string;
  /** The kube-apiserver, for trust and certificates. */
  readonly host: RestConfig;
}

interface Option extends Flag {
  /** Its place in the config file, as `backend.tls.caFile`; the flag's name follows from it. */
  path: string;
  kind: FieldKind;
}

const auditBody = 'audit.maxBodyBytes';

/** The proxy's options: one table is the source of flags, config file and documentation. */
export class ProxyOptions {
  #configFile = '';
  readonly #given = new Map<string, string>();
  readonly #audit = new AuditOptions({ modes: ['batch'], policy: defaultPolicy });
  readonly options: readonly Option[];

  bindAddress = '0.0.0.0';
  port = 6443;
  namespace = 'cozy-system';
  serviceName = 'audit-proxy';
  shutdownDelaySeconds = 0;
  tlsMode = 'self-signed';
  certFile = '';
  keyFile = '';
  apiServices = apiServiceNames.join(',');
  url = '';
  responseTimeoutSeconds = 60;
  identityMode = 'impersonation';
  tokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token';
  forwardUid = false;
  extrasMode = 'none';
  extrasAllowlist = '';
  insecureSkipVerify = false;
  caFile = '';
  caSecretName = '';
  serverName = '';
  maxBodyBytes = 1024 * 1024;
  metricsBindAddress = '0.0.0.0';
  metricsPort = 8080;
  kubeconfig = '';
  logLevel = 'info';

  constructor() {
    this.options = [...this.#own(), ...this.#ofAudit()];
  }

  addFlags(flags: Flags): void {
    flags.add({ name: 'config', value: 'path', help: 'config file (YAML) with the fields that this table names; a flag counts more than the file', default: '', set: (path) => void (this.#configFile = path) });
    for (const option of this.options) flags.add({ ...option, set: (value) => void this.#given.set(option.path, value) });
  }

  /** Takes up the config file, where one is named, and then the flags. Call after parsing. @throws Error with every fault of the file */
  async load(): Promise<void> {
    const file = this.#configFile;
    const fields = new Map(this.options.map(({ path, kind }) => [path, kind]));
    const values = file
      ? await readFile(file, 'utf8')
          .then((text) => parseConfig(text, fields))
          .catch((error: Error) => {
            throw new Error(`config file ${file}: ${error.message}`, { cause: error });
          })
      : new Map<string, string>();
    for (const [path, value] of this.#given) values.set(path, value);
    for (const option of this.options) {
      const value = values.get(option.path);
      if (value !== undefined) option.set(value);
    }
  }

  /** Every fault, without I/O. */
  validate(): string[] {
    const faults: string[] = [];
    const oneOf = (path: string, value: string, values: readonly string[]): void => {
      if (!values.includes(value)) faults.push(`${path} must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`);
    };
    if (!this.url) faults.push('backend.url is required: where the aggregated API server is, as https://tenant-apiserver.cozy-system.svc:443');
    else if (!URL.canParse(this.url)) faults.push(`backend.url: ${JSON.stringify(this.url)} is no URL`);
    else faults.push(...urlFaults(new URL(this.url)));
    if (this.port > 65535) faults.push('server.port must be between 0 and 65535 (0 takes a free port)');
    if (this.metricsPort > 65535) faults.push('metrics.port must be between 0 and 65535 (0 takes a free port)');
    if (!this.namespace) faults.push('server.namespace must not be empty');
    if (!this.serviceName) faults.push('server.serviceName must not be empty');
    oneOf('server.tls.mode', this.tlsMode, tlsModes);
    const files = Boolean(this.certFile) && Boolean(this.keyFile);
    if (['cert-manager', 'existing-secret'].includes(this.tlsMode) && !files) faults.push(`server.tls.mode ${this.tlsMode} needs server.tls.certFile and server.tls.keyFile: where its Secret is mounted`);
    if (this.tlsMode === 'self-signed' && (this.certFile || this.keyFile)) faults.push('server.tls.certFile and server.tls.keyFile are for the modes cert-manager and existing-secret');
    oneOf('backend.identity.mode', this.identityMode, ['impersonation']);
    if (!this.tokenFile) faults.push('backend.identity.impersonation.tokenFile must not be empty');
    oneOf('backend.identity.impersonation.extras.mode', this.extrasMode, extrasModes);
    if ((this.extrasMode === 'allowlist') !== Boolean(this.extrasAllowlist)) faults.push('backend.identity.impersonation.extras.allowlist goes with mode allowlist, which needs at least one key');
    if (this.caFile && this.caSecretName) faults.push('backend.tls.caFile and backend.tls.caSecretName exclude each other');
    if (this.insecureSkipVerify && (this.caFile || this.caSecretName)) faults.push('backend.tls.insecureSkipVerify makes a CA useless: leave one of them out');
    if (this.responseTimeoutSeconds === 0) faults.push('backend.responseTimeoutSeconds must be greater than 0');
    oneOf('logLevel', this.logLevel, logLevels);
    return [...faults, ...this.#audit.validate()];
  }

  /** Reads files; the network waits for run(). */
  async complete(): Promise<ProxyConfig> {
    const { bindAddress, port, namespace, serviceName, shutdownDelaySeconds, certFile, keyFile, tokenFile, forwardUid } = this;
    const { insecureSkipVerify, caFile, caSecretName, serverName, maxBodyBytes, logLevel } = this;
    const audit = await this.#audit.complete();
    if (!audit) throw new Error('nothing would be recorded');
    return Object.freeze({
      server: {
        bindAddress,
        port,
        namespace,
        serviceName,
        shutdownDelaySeconds,
        tls: { mode: this.tlsMode as TlsMode, certFile, keyFile },
        apiServices: listOf(this.apiServices),
      },
      backend: {
        url: new URL(this.url),
        responseTimeoutMs: this.responseTimeoutSeconds * 1000,
        tokenFile,
        projection: { forwardUid, extras: { mode: this.extrasMode as ExtrasMode, allowlist: new Set(listOf(this.extrasAllowlist.toLowerCase())) } },
        tls: { insecureSkipVerify, caFile, caSecretName, serverName },
      },
      metrics: { bindAddress: this.metricsBindAddress, port: this.metricsPort },
      audit,
      maxBodyBytes,
      logLevel,
      host: await loadRestConfig(this.kubeconfig || undefined),
    });
  }

  #own(): Option[] {
    const impersonation = 'backend.identity.impersonation';
    return [
      this.#text('url', 'backend.url', 'url', 'the aggregated API server that requests go to, whatever their API group; it has to speak HTTP/2'),
      this.#number('responseTimeoutSeconds', 'backend.responseTimeoutSeconds', 'seconds', 'how long an answer may take to begin; then it is 504'),
      this.#text('caFile', 'backend.tls.caFile', 'path', "PEM file with the authorities that the backend's certificate may come from, read again when it changes"),
      this.#text('caSecretName', 'backend.tls.caSecretName', 'name', `Secret in the proxy's namespace whose ca.crt takes the place of that file, as ${backendCaSecretName}; it is watched`),
      this.#text('serverName', 'backend.tls.serverName', 'name', "name that the backend's certificate has to carry, where it is not the host of backend.url"),
      this.#toggle('insecureSkipVerify', 'backend.tls.insecureSkipVerify', 'trust any backend: whoever takes its place gets the token. For a first try only'),
      this.#text('identityMode', 'backend.identity.mode', 'mode', 'impersonation, and nothing else'),
      this.#text('tokenFile', `${impersonation}.tokenFile`, 'path', "token of the proxy's own ServiceAccount, read again as it rotates"),
      this.#toggle('forwardUid', `${impersonation}.forwardUid`, "send the user's uid (Impersonate-Uid); needs impersonate on uids"),
      this.#text('extrasMode', `${impersonation}.extras.mode`, 'mode', 'extras that are sent (Impersonate-Extra-*): none; allowlist; all. Each needs impersonate on userextras/<key>'),
      this.#list('extrasAllowlist', `${impersonation}.extras.allowlist`, 'keys', 'extra keys that mode allowlist sends'),
      this.#text('bindAddress', 'server.bindAddress', 'address', 'address to listen on'),
      this.#number('port', 'server.port', 'port', 'port to listen on, for HTTP/2 and HTTP/1.1 over TLS'),
      this.#text('namespace', 'server.namespace', 'name', "the proxy's own namespace: of its Service and Secrets"),
      this.#text('serviceName', 'server.serviceName', 'name', 'name of the Service that the APIServices point at; the serving certificate is issued for it'),
      this.#number('shutdownDelaySeconds', 'server.shutdownDelaySeconds', 'seconds', 'how long to go on serving, not ready, after a signal to stop'),
      this.#text('tlsMode', 'server.tls.mode', 'mode', `where the serving certificate comes from: self-signed (the proxy issues it into Secret <serviceName>-serving, with its ca.crt); cert-manager and existing-secret (from the files below, reloaded when they change)`),
      this.#text('certFile', 'server.tls.certFile', 'path', 'serving certificate of the modes cert-manager and existing-secret'),
      this.#text('keyFile', 'server.tls.keyFile', 'path', 'private key of that certificate'),
      this.#list('apiServices', 'server.apiService.names', 'names', 'APIServices whose caBundle the proxy keeps in mode self-signed, while they point at its Service; none: it leaves them alone'),
      this.#number('maxBodyBytes', auditBody, 'bytes', 'largest body of a request or an answer that an event holds; a larger one is left out, and the event is marked'),
      this.#text('metricsBindAddress', 'metrics.bindAddress', 'address', 'address that /metrics is served on, over plain HTTP'),
      this.#number('metricsPort', 'metrics.port', 'port', 'port of that'),
      this.#text('kubeconfig', 'kubeconfig', 'path', "how to reach the kube-apiserver; without it the pod's own ServiceAccount is used"),
      this.#text('logLevel', 'logLevel', 'level', `one of ${logLevels.join(', ')}`),
    ];
  }

  /** The flags of the audit backends, as the server has them, with their places in the config file. */
  #ofAudit(): Option[] {
    const flags = new Flags();
    this.#audit.addFlags(flags);
    return flags.all.map((flag) => ({ ...flag, path: pathOf(flag.name), kind: kindOf(flag) }));
  }

  #text(name: TextField, path: string, value: string, help: string): Option {
    return { path, kind: 'text', name: flagOf(path), value, help, default: this[name], set: (given) => void (this[name] = given) };
  }

  #list(name: TextField, path: string, value: string, help: string): Option {
    return { ...this.#text(name, path, value, help), kind: 'list', help: `${help}. As a flag, separated by commas` };
  }

  #number(name: NumberField, path: string, value: string, help: string): Option {
    return { path, kind: 'number', name: flagOf(path), value, help, default: String(this[name]), set: (given) => void (this[name] = integerValue(flagOf(path), given)) };
  }

  #toggle(name: BooleanField, path: string, help: string): Option {
    return { path, kind: 'boolean', name: flagOf(path), help, default: String(this[name]), set: (given) => void (this[name] = booleanValue(flagOf(path), given)) };
  }
}

type FieldOf<T> = { [K in keyof ProxyOptions]: ProxyOptions[K] extends T ? K : never }[keyof ProxyOptions];
type TextField = FieldOf<string>;
type NumberField = FieldOf<number>;
type BooleanField = FieldOf<boolean>;

const urlFaults = (url: URL): string[] => {
  const faults: string[] = [];
  if (url.protocol !== 'https:') faults.push('backend.url must begin with https://');
  if (url.username || url.password || url.search || url.hash) faults.push('backend.url must hold no user, query or fragment');
  return faults;
};

const listOf = (text: string): string[] => text.split(',').map((item) => item.trim()).filter(Boolean);

/** `backend.tls.caFile` is the flag `--backend-tls-ca-file`. */
const flagOf = (path: string): string => path.replaceAll('.', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** `--audit-log-path` is the field `audit.logPath`. */
const pathOf = (flag: string): string => flag.replace('audit-', 'audit.').replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

const kindOf = ({ value, default: shown }: Flag): FieldKind => {
  if (!value) return 'boolean';
  return /^\d+$/.test(shown) ? 'number' : 'text';
};
