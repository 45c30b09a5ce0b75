import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { componentNames, findComponents } from './components.ts';

describe('components', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'components-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const assets = async (versions: Record<string, string>): Promise<NodeJS.ProcessEnv> => {
    const bin = path.join(folder, 'assets');
    await mkdir(bin);
    for (const [name, version] of Object.entries(versions)) await writeFile(path.join(bin, name), `#!/bin/sh\necho '${version}'\n`, { mode: 0o755 });
    return { KUBEBUILDER_ASSETS: bin, XDG_CACHE_HOME: path.join(folder, 'cache'), PATH: folder };
  };
  const matching = {
    etcd: 'etcd Version: 3.7.9',
    'kube-apiserver': 'Kubernetes v1.37.0',
    'kube-controller-manager': 'Kubernetes v1.37.2',
    kubectl: 'Client Version: v1.37.5\nKustomize Version: v5.8.1',
  };

  it('come from KUBEBUILDER_ASSETS, and another minor version is pointed out', async () => {
    const environment = await assets({ ...matching, 'kube-apiserver': 'Kubernetes v1.31.4' });
    const lines: string[] = [];
    const components = await findComponents({ environment, log: (line) => lines.push(line) });
    for (const name of componentNames) assert.equal(components[name], path.join(folder, 'assets', name));
    assert.deepEqual(lines.filter((line) => line.includes('ATTENTION')).map((line) => line.replace(/^.*; /, '')),
      ['ATTENTION: version v1.31.4, while this project is made for v1.37.2']);
  });

  it('say what to install when one is missing and Go is too', async () => {
    const { kubectl: _, ...others } = matching;
    const environment = await assets(others);
    await assert.rejects(findComponents({ environment }), /^Error: kubectl not found, and building needs Go, which is not on PATH\. Install Go/);
  });
});
