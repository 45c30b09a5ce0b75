import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ControlPlane } from './controlplane.ts';

const usage = `Starts a control plane on loopback and stops it on Ctrl-C.

  --directory <path>              keeps data, certificates and logs there; a temporary folder if left out
  --front-proxy-key <rsa|ecdsa>   key type of the front proxy's certificates (default ecdsa)
  --fsync                         let etcd wait for the disk
`;

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      directory: { type: 'string' },
      'front-proxy-key': { type: 'string', default: 'ecdsa' },
      fsync: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(usage);
  const keyType = values['front-proxy-key'];
  if (keyType !== 'rsa' && keyType !== 'ecdsa') throw new TypeError(`--front-proxy-key is rsa or ecdsa, not ${keyType}`);
  const interrupted = new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  const directory = values.directory ?? (await mkdtemp(path.join(tmpdir(), 'controlplane-')));
  const controlPlane = await ControlPlane.start({ directory, frontProxyKeyType: keyType, fsync: values.fsync, log: console.log });
  console.log(`\nlogs: ${path.join(controlPlane.directory, 'logs')}\nCtrl-C stops it; in another shell:\n`
    + `  export KUBECONFIG=${controlPlane.kubeconfigPath}\n  ${controlPlane.kubectlPath} get namespaces`);
  await interrupted;
  await controlPlane.stop();
  if (values.directory === undefined) await rm(directory, { recursive: true, force: true });
};

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
