import { frontSession, getAs, type FrontAddress } from './front-session.ts';

/** What the flood is told: to begin, with so many requests at a time, or to end. */
export type FloodOrder = { begin: { address: FrontAddress; user: string; path: string; atATime: number } } | 'end';

/** What it tells at its end: answers by status, and seconds. */
export interface FloodReport {
  answers: Record<number, number>;
  seconds: number;
}

/** A process of its own: one user who asks as fast as he is answered, many times at once. */
let flooding = false;
let over: Promise<FloodReport> | undefined;

const flood = async ({ address, user, path, atATime }: Exclude<FloodOrder, 'end'>['begin']): Promise<FloodReport> => {
  const session = await frontSession(address);
  const answers: Record<number, number> = {};
  const began = performance.now();
  const worker = async (): Promise<void> => {
    while (flooding) {
      const status = await getAs(session, user, path);
      answers[status] = (answers[status] ?? 0) + 1;
    }
  };
  process.send?.('begun');
  await Promise.all(Array.from({ length: atATime }, worker));
  session.close();
  return { answers, seconds: (performance.now() - began) / 1000 };
};

process.on('message', (order: FloodOrder) => {
  if (order === 'end') {
    flooding = false;
    void over?.then((report) => process.send?.(report));
  } else {
    flooding = true;
    over = flood(order.begin);
  }
});
