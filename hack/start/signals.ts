/** What asks to stop, with the exit code that shells expect. */
export const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGPIPE: 141 } as const;
export type Signal = keyof typeof exitCodes;

/** npm passes on the signal that a terminal has sent to this process already. */
const sameSignalMs = 1000;
const lookAtParentMs = 300;

/** Resolves with the first signal that asks to stop; another one later ends the process at once. */
export const signalled = (): Promise<Signal> =>
  new Promise((resolve) => {
    let first: number | undefined;
    for (const signal of Object.keys(exitCodes) as Signal[]) {
      process.on(signal, () => {
        if (first !== undefined && Date.now() - first > sameSignalMs) process.exit(exitCodes[signal]);
        first ??= Date.now();
        resolve(signal);
      });
    }
    // Nobody reads any more what is printed: `npm start | head`.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => resolve('SIGPIPE'));
    whenNpmIsGone(() => resolve('SIGTERM'));
  });

/** npm sends SIGTERM to the shell between it and this process, which ends without passing it on. */
const whenNpmIsGone = (then: () => void): void => {
  if (process.env['npm_lifecycle_event'] !== 'start') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    then();
  }, lookAtParentMs).unref();
};
