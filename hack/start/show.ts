import path from 'node:path';
import { Kubectl } from '../local/kubectl.ts';

const shown = ['tenants', 'tenantgateways', 'gateways,certificates'];

/** Prints what is there and how to get at it from another shell. */
export const show = async (directory: string): Promise<void> => {
  const kubeconfig = path.join(directory, 'kubeconfig');
  const bin = path.join(directory, 'bin');
  const kubectl = new Kubectl(path.join(bin, 'kubectl'), kubeconfig);
  const environment = { KUBECACHEDIR: path.join(directory, 'kubectl-cache') }; // in the home directory, it would outlive this cluster
  const tables = await Promise.all(shown.map((what) => kubectl.run(['get', what, '-A'], { environment })));
  shown.forEach((what, index) => console.log(`\n$ kubectl get ${what} -A\n${tables[index]!.trimEnd()}`));
  console.log('\nNo data plane and no cert-manager run here: gateways are not programmed and certificates not issued,');
  console.log('and the conditions of tenantgateways say so (kubectl describe tenantgateways -A).');
  console.log(`\nLogs are in ${path.join(directory, 'logs')}. In another shell:\n  export KUBECONFIG=${quoted(kubeconfig)}; PATH=${quoted(bin)}:$PATH`);
};

/** For a shell, where it needs it. */
const quoted = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
