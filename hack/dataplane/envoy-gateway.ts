import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { cached } from '../cached.ts';
import { compile } from '../go/compile.ts';
import { moduleDirectory } from '../go/module.ts';

const moduleFolder = import.meta.dirname;
const module = 'github.com/envoyproxy/gateway';

/**
 * The path of the Envoy Gateway that `go.mod` beside this file names, built on the first call on a machine.
 * Throws when Go is missing and when the build fails.
 */
export const findEnvoyGateway = async (log: (line: string) => void): Promise<string> => {
  const content = await Promise.all(['go.mod', 'go.sum'].map((name) => readFile(path.join(moduleFolder, name), 'utf8')));
  const make = async (folder: string): Promise<void> => {
    log('building Envoy Gateway from source (once; 5 to 9 minutes on 2 cores)');
    await compile({ moduleFolder, args: ['-o', path.join(folder, 'envoy-gateway'), `${module}/cmd/envoy-gateway`], log });
    log('Envoy Gateway is built');
  };
  return cached({ name: 'envoy-gateway', content, file: 'envoy-gateway', make });
};

/** Envoy Gateway's own CustomResourceDefinitions, each a YAML document. They are templates in its module, with a condition around each. */
export const envoyGatewayCrds = async (): Promise<string[]> => {
  const folder = path.join(await moduleDirectory(module, moduleFolder), 'charts/gateway-crds-helm/templates/generated');
  const files = (await readdir(folder)).sort();
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  return texts.map((text) => text.replaceAll(/^\{\{-? .*\}\}\n?/gm, ''));
};
