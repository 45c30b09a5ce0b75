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
  const controlPlane = await ControlPlane.start({ directory, log: (line) => console.log(`  ${line}`), ...options });
  atEnd(async () => {
    await controlPlane.stop();
    await rm(directory, { recursive: true, force: true });
  });
  return controlPlane;
};
