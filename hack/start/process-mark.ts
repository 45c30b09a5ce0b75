import { readFileSync } from 'node:fs';

/** A process by more than its id, which the system hands out again once the process is gone. */
export interface ProcessMark {
  pid: number;
  /** Ticks since boot, where the system tells. */
  startedAt?: string;
}

export const markOf = (pid: number): ProcessMark => ({ pid, startedAt: startOf(pid) });

/** Whether the very process that was marked still runs. */
export const isRunning = ({ pid, startedAt }: ProcessMark): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const now = startOf(pid);
  return startedAt === undefined || now === undefined ? !isZombie(pid) : startedAt === now && !isZombie(pid);
};

const startOf = (pid: number): string | undefined => fieldsOf(pid)?.[19];

/** Over, and only waits for its parent to ask how it ended. */
const isZombie = (pid: number): boolean => fieldsOf(pid)?.[0] === 'Z';

/** /proc/<pid>/stat from its third field on: the second one, the program's name, may hold spaces and brackets. */
const fieldsOf = (pid: number): string[] | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined; // no Linux, or gone
  }
};
