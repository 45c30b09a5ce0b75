import type { GroupVersionKind, KubeObject } from '../../api/meta/v1/types.ts';
import type { UserInfo } from '../authentication/user.ts';
import { StatusError } from '../kube/status-error.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** One write on its way to storage, as admission sees it (admission.k8s.io/v1 AdmissionRequest). */
export interface AdmissionAttributes {
  operation: Operation;
  kind: GroupVersionKind;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  /** Absent on DELETE. Mutating plugins replace it. */
  object?: KubeObject;
  /** Absent on CREATE. */
  oldObject?: KubeObject;
  user: UserInfo;
  dryRun: boolean;
  /** What a plugin did elsewhere, to be undone where the write fails after all; what failed without a clear answer may yet come to be. */
  undo: ((mayYetBe: boolean) => Promise<void>)[];
  /** What a plugin has still to do once the write is done. Nobody waits for it. */
  done: (() => void)[];
  /** A text for the caller's `Warning` header. */
  warn: (text: string) => void;
  /** An annotation for the audit event. */
  annotate: (key: string, value: string) => void;
}

/** Undoes what plugins did for a write that failed. Best effort: none of it may hide why the write failed. */
const undoAdmission = async ({ undo }: Pick<AdmissionAttributes, 'undo'>, mayYetBe: boolean): Promise<void> => {
  await Promise.allSettled(undo.splice(0).map((step) => step(mayYetBe)));
};

/** Carries out a write that was let in, unless nobody waits for it any more, and lets the plugins know what became of it. */
export const writeAdmitted = async <T>(attributes: Pick<AdmissionAttributes, 'undo' | 'done'>, signal: AbortSignal, write: () => Promise<T>): Promise<T> => {
  if (signal.aborted) {
    await undoAdmission(attributes, false);
    throw signal.reason as Error;
  }
  try {
    const written = await write();
    for (const step of attributes.done.splice(0)) step();
    return written;
  } catch (error) {
    await undoAdmission(attributes, !(error instanceof StatusError && error.code < 500));
    throw error;
  }
};

/** Refuses by throwing a StatusError; anything else it throws is an internal error, which refuses as well. */
export interface AdmissionPlugin {
  readonly name: string;
  handles(attributes: AdmissionAttributes): boolean;
  /** May replace `attributes.object`. */
  admit?(attributes: AdmissionAttributes): Promise<void> | void;
  /** Sees the object as it is going to be stored. */
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

/** Plugins in order: all mutating ones, and, once the object is final, all validating ones. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  /** Whether anyone would look at a write; `oldObject` may still be missing. */
  handles(attributes: AdmissionAttributes): boolean {
    return this.#plugins.some((plugin) => plugin.handles(attributes));
  }

  async mutate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#plugins) {
      if (plugin.admit && plugin.handles(attributes)) await plugin.admit(attributes);
    }
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    try {
      for (const plugin of this.#plugins) {
        if (plugin.validate && plugin.handles(attributes)) await plugin.validate(attributes);
      }
    } catch (error) {
      await undoAdmission(attributes, false); // what those before the one that refused have done
      throw error;
    }
  }
}
