import { findComponents } from '../hack/controlplane/components.ts';
import { crdDocuments, crdSets } from '../hack/crds/crds.ts';
import { prepareDataPlane } from '../hack/dataplane/dataplane.ts';
import { goClients } from './clients/go-clients.ts';

/**
 * Builds and downloads what the given test files need, before any of their timeouts runs: this takes minutes on a machine
 * where nothing was prepared, and a second otherwise.
 */
export const prepare = async (files: readonly string[], log: (line: string) => void): Promise<void> => {
  if (!files.some((file) => /^test\/(integration|contract|e2e|heavy)\//.test(file))) return;
  // What it needs of the machine is known to be there before anything takes minutes.
  if (files.some((file) => file.startsWith('test/e2e/gateway/'))) await prepareDataPlane(log);
  await findComponents({ log });
  for (const set of crdSets) await crdDocuments(set);
  // After the components, whose packages they share.
  if (files.some((file) => /\/clients-(go|restart)\.test\.ts$/.test(file))) await goClients(log);
};
