import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments, stringify } from 'yaml';
import { Kubectl } from '../local/kubectl.ts';

const run = promisify(execFile);
const manifests = path.resolve(import.meta.dirname, '../../manifests');

export interface ApplyOptions {
  kubectlPath: string;
  /** Of an administrator. */
  kubeconfigPath: string;
  /** A kustomization, from the folder `manifests`, as in `overlays/local`. */
  overlay: string;
  /** Where the server listens; what the kustomization says if left out. */
  port?: number;
  /** Those to apply; all if left out. */
  only?: (object: Manifest) => boolean;
}

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  data?: Record<string, string>;
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
export const applyManifests = async ({ kubectlPath, kubeconfigPath, overlay, port, only = () => true }: ApplyOptions): Promise<string[]> => {
  const [crds, others] = await Promise.all([renderManifests(kubectlPath, 'crds'), renderManifests(kubectlPath, overlay)]);
  const objects = [...crds, ...others.filter(only).map((object) => withPort(object, port))];
  const kubectl = new Kubectl(kubectlPath, kubeconfigPath);
  // Its usual place, in the home directory, would keep what was discovered of a control plane that is gone.
  const environment = { KUBECACHEDIR: path.join(path.dirname(kubeconfigPath), 'kubectl-cache') };
  const input = objects.map((object) => stringify(object)).join('---\n');
  const output = await kubectl.run(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input, environment });
  const names = crds.map(({ metadata }) => `crd/${metadata.name}`);
  await kubectl.run(['wait', '--for=condition=Established', '--timeout=50s', ...names], { environment });
  return output.trimEnd().split('\n');
};

const withPort = (object: Manifest, port: number | undefined): Manifest => {
  if (object.kind !== 'APIService' || port === undefined) return object;
  return { ...object, spec: { ...object.spec, service: { ...object.spec?.['service'], port } } };
};
