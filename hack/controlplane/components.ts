import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, constants, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { compile } from '../go/compile.ts';

const run = promisify(execFile);

export const componentNames = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;
export type ComponentName = (typeof componentNames)[number];

/** The absolute path of each component's executable. */
export type Components = Readonly<Record<ComponentName, string>>;

export interface FindOptions {
  /** Receives a progress line; nothing is printed if left out. */
  log?: (line: string) => void;
  /** process.env if left out: KUBEBUILDER_ASSETS, XDG_CACHE_HOME and PATH are read. */
  environment?: NodeJS.ProcessEnv;
}

/** Where each component comes from in `go.mod`, and the version that it should have there. */
interface Source { goPackage: string; executable: string; version: string }
interface Module { sources: Record<ComponentName, Source>; ldflags: string; cacheKey: string; goVersion: string }

const moduleFolder = import.meta.dirname;

/**
 * Finds every component in KUBEBUILDER_ASSETS or in the cache, and builds what is in neither from `go.mod` beside this
 * file. Throws when Go is needed and missing, and when the build fails.
 */
export const findComponents = async ({ log = () => {}, environment = process.env }: FindOptions = {}): Promise<Components> => {
  const module = await readModule();
  const cache = path.join(environment['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'tenant-apiserver', 'controlplane', module.cacheKey);
  const assets = environment['KUBEBUILDER_ASSETS'];
  const found = new Map<ComponentName, string>();
  for (const name of componentNames) {
    const asset = assets ? path.join(assets, name) : undefined;
    if (asset !== undefined && (await isExecutable(asset))) {
      found.set(name, asset);
      log(`${name}: ${asset} (KUBEBUILDER_ASSETS)${await mismatch(name, asset, module.sources[name].version)}`);
    } else if (await isExecutable(path.join(cache, name))) {
      found.set(name, path.join(cache, name));
    }
  }
  const missing = componentNames.filter((name) => !found.has(name));
  if (missing.length > 0) {
    await build({ missing, module, cache, log, environment });
    for (const name of missing) found.set(name, path.join(cache, name));
  }
  return Object.fromEntries(found) as Components;
};

const isExecutable = (file: string): Promise<boolean> => access(file, constants.X_OK).then(() => true, () => false);

/** `go.mod` is the one place that names versions: the flags that stamp them into the executables are derived from it. */
const readModule = async (): Promise<Module> => {
  const goMod = await readFile(path.join(moduleFolder, 'go.mod'), 'utf8');
  const goSum = await readFile(path.join(moduleFolder, 'go.sum'), 'utf8');
  const source = (goPackage: string, module: string): Source => {
    const version = new RegExp(`^\\s*${module.replaceAll('.', '\\.')} (v\\S+)`, 'm').exec(goMod)?.[1];
    if (version === undefined) throw new Error(`hack/controlplane/go.mod does not require ${module}`);
    // Go names an executable after the last element of its path that is not a major version.
    const executable = path.basename(goPackage.replace(/\/v\d+$/, ''));
    return { goPackage, executable, version };
  };
  const kubernetes = (name: string): Source => source(`k8s.io/kubernetes/cmd/${name}`, 'k8s.io/kubernetes');
  const sources = {
    etcd: source('go.etcd.io/etcd/server/v3', 'go.etcd.io/etcd/server/v3'),
    'kube-apiserver': kubernetes('kube-apiserver'),
    'kube-controller-manager': kubernetes('kube-controller-manager'),
    kubectl: kubernetes('kubectl'),
  };
  const { version } = sources['kube-apiserver'];
  const [major, minor] = version.slice(1).split('.');
  const ldflags = Object.entries({ gitVersion: version, gitMajor: major, gitMinor: minor })
    .map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`).join(' ');
  const cacheKey = createHash('sha256').update(JSON.stringify([goMod, goSum, ldflags])).digest('hex').slice(0, 16);
  const goVersion = /^go (\d+\.\d+)/m.exec(goMod)?.[1] ?? '';
  return { sources, ldflags, cacheKey, goVersion };
};

const mismatch = async (name: ComponentName, file: string, wanted: string): Promise<string> => {
  const { stdout } = await run(file, name === 'kubectl' ? ['version', '--client'] : ['--version']);
  const actual = /v?(\d+\.\d+)\.\d+\S*/.exec(stdout);
  if (actual === null) return `; its version is unreadable: ${stdout.trim()}`;
  return wanted.startsWith(`v${actual[1]}.`) ? '' : `; ATTENTION: version ${actual[0]}, while this project is made for ${wanted}`;
};

interface Build {
  missing: ComponentName[];
  module: Module;
  cache: string;
  log: (line: string) => void;
  environment: NodeJS.ProcessEnv;
}

/** One `go build` for all that is missing, so that shared packages compile once; results move into the cache when whole. */
const build = async ({ missing, module: { sources, ldflags, goVersion }, cache, log, environment }: Build): Promise<void> => {
  await run('go', ['version'], { env: environment }).catch((cause: unknown) => {
    throw new Error(
      `${missing.join(', ')} not found, and building needs Go, which is not on PATH. Install Go ${goVersion} or newer (https://go.dev/dl/), `
      + 'or set KUBEBUILDER_ASSETS to a folder that holds all of them.', { cause });
  });
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(path.join(cache, '.build-'));
  const began = Date.now();
  const elapsed = (): string => `${Math.round((Date.now() - began) / 1000)} s`;
  log(`building ${missing.join(', ')} ${sources['kube-apiserver'].version} from source (once; about 7 minutes on 2 cores)`);
  const announced = new Set<string>();
  const announce = async (): Promise<void> => {
    const files = await readdir(folder);
    for (const name of missing) {
      if (!files.includes(sources[name].executable) || announced.has(name)) continue;
      announced.add(name);
      log(`${name}: built after ${elapsed()}`);
    }
  };
  const poll = setInterval(() => void announce().catch(() => {}), 1000);
  try {
    await compile({ moduleFolder, args: ['-ldflags', ldflags, '-o', folder + path.sep, ...missing.map((name) => sources[name].goPackage)], environment, log });
    await announce();
    for (const name of missing) await rename(path.join(folder, sources[name].executable), path.join(cache, name));
  } finally {
    clearInterval(poll);
    await rm(folder, { recursive: true, force: true });
  }
};
