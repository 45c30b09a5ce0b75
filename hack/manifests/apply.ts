import { execFile, spawn } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments, stringify } from 'yaml';

const run = promisify(execFile);
const manifests = path.resolve(import.meta.dirname, '../../manifests');
const establishedWithin = '60s';

export interface ApplyOptions {
  kubectlPath: string;
  /** Of an administrator. */
  kubeconfigPath: string;
  /** A kustomization, from the folder `manifests`, as in `overlays/local`. */
  overlay: string;
  /** Where the server listens; what the kustomization says if left out. */
  port?: number;
}

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  spec?: Record<string, any>;
}

/** The objects of a kustomization under `manifests`. Throws with what kubectl says. */
export const renderManifests = async (kubectlPath: string, kustomization: string): Promise<Manifest[]> => {
  const { stdout } = await run(kubectlPath, ['kustomize', path.join(manifests, kustomization)], { maxBuffer: 64 * 1024 * 1024 });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
};

/**
 * Installs as docs/install.md says: CustomResourceDefinitions, then the rest, server-side, and waits until records can be kept.
 * Returns what kubectl printed, a line an object. Throws with what kubectl says.
 */
export const applyManifests = async ({ kubectlPath, kubeconfigPath, overlay, port }: ApplyOptions): Promise<string[]> => {
  const [crds, others] = await Promise.all([renderManifests(kubectlPath, 'crds'), renderManifests(kubectlPath, overlay)]);
  const objects = [...crds, ...others.map((object) => withPort(object, port))];
  const kubectl = [`--kubeconfig=${kubeconfigPath}`];
  const output = await feed(kubectlPath, [...kubectl, 'apply', '--server-side', '--force-conflicts', '-f', '-'], objects.map((object) => stringify(object)).join('---\n'));
  const names = crds.map(({ metadata }) => `crd/${metadata.name}`);
  await run(kubectlPath, [...kubectl, 'wait', '--for=condition=Established', `--timeout=${establishedWithin}`, ...names]);
  return output.trimEnd().split('\n');
};

const withPort = (object: Manifest, port: number | undefined): Manifest => {
  if (object.kind !== 'APIService' || port === undefined) return object;
  return { ...object, spec: { ...object.spec, service: { ...object.spec?.['service'], port } } };
};

const feed = (command: string, args: string[], input: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let [output, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    child.stdin.on('error', () => undefined); // a child that ends early says why on its own
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`kubectl ${args.join(' ')} failed (${code}):\n${errors || output}`))));
    child.stdin.end(input);
  });
