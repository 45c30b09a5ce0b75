import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ControlPlane, type ControlPlaneOptions } from '../../hack/controlplane/controlplane.ts';
import { atEnd } from '../lifecycle.ts';

let shared: Promise<ControlPlane> | undefined;

/** The control plane that the tests of this process share: started by the first that asks, stopped when the run is over. */
export const sharedControlPlane = (): Promise<ControlPlane> => {
  shared ??= ownControlPlane();
  return shared;
};

/** A control plane for tests that stop its parts or need other flags; stopped when the run is over, if not before. */
export const ownControlPlane = async (options: Omit<ControlPlaneOptions, 'directory'> = {}): Promise<ControlPlane> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'controlplane-'));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  let controlPlane: ControlPlane;
  try {
    controlPlane = await ControlPlane.start({ directory, log: (line) => console.log(`  ${line}`), ...options });
  } catch (error) {
    await remove(); // the error carries the log's tail
    throw error;
  }
  atEnd(async (failed) => {
    await controlPlane.stop();
    if (failed) console.log(`  the control plane's data and logs are kept in ${directory}`);
    else await remove();
  });
  return controlPlane;
};
