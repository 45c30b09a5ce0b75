import { setTimeout } from 'node:timers/promises';
import { answerOf, type Answer } from './answer.ts';
import { isWatch, type Case, type Request, type Step, type Watch } from './case.ts';
import { placeNames, textFor, type Place, type Side } from './sides.ts';
import type { Wire } from './wire.ts';

export interface Run {
  side: Side;
  wire: Wire;
  place: Place;
  replicaPort: number;
}

/** Carries out a case's steps on one side. @returns the answers, in the order of the steps, a watch before what it was open for */
export const runCase = async ({ steps }: Case, run: Run): Promise<Answer[]> => {
  const answers: Answer[] = [];
  await runSteps(steps, run, answers);
  return answers;
};

/** Carries out further steps, which may name the answers so far, and adds theirs. */
export const runSteps = async (steps: readonly Step[], run: Run, answers: Answer[]): Promise<void> => {
  for (const step of steps) {
    if (isWatch(step)) await runWatch(step, run, answers);
    else answers.push(await sendUntil(step, run, answers));
  }
};

const settleMs = 500;

const sendUntil = async (step: Request, run: Run, answers: readonly Answer[]): Promise<Answer> => {
  let answer = await send(step, run, answers);
  for (let attempt = 1; step.until && !step.until(answer.body); attempt += 1) {
    if (attempt > 100) throw new Error(`${run.side}: ${JSON.stringify(answer)} is not what was waited for`);
    await setTimeout(100);
    answer = await send(step, run, answers);
  }
  if (step.until) await setTimeout(settleMs); // others that watch it are told a moment later
  return answer;
};

const runWatch = async (step: Watch, run: Run, answers: Answer[]): Promise<void> => {
  const place = answers.push({ status: 0, headers: {}, body: undefined }) - 1;
  const opened = Promise.withResolvers<void>();
  const over = send(step, run, answers, opened.resolve);
  over.catch(opened.reject);
  await opened.promise;
  await runSteps(step.meanwhile, run, answers);
  answers[place] = await over;
};

const send = async (step: Step, { side, wire, place, replicaPort }: Run, answers: readonly Answer[], onHead?: () => void): Promise<Answer> => {
  const { method = 'GET', path, type, accept = 'application/json', headers, body, replica } = step;
  const fill = filler(side, place, answers);
  const sent = body === undefined || body instanceof Uint8Array ? body : typeof body === 'string' ? fill(body) : fill(JSON.stringify(body));
  const request = {
    method,
    path: fill(path),
    headers: {
      'accept-encoding': 'identity',
      ...(accept !== null && { accept: fill(accept) }),
      ...(sent !== undefined && { 'content-type': type ?? 'application/json' }),
      ...Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, fill(value)])),
    },
    ...(sent !== undefined && { body: sent }),
    ...(replica && side === 'ours' && { port: replicaPort }),
    ...(isWatch(step) && step.lines !== undefined && { lines: step.lines }),
    ...(onHead && { onHead }),
  };
  return answerOf(isWatch(step) && step.webSocket ? await wire.webSocket(request, step.webSocket.map(fill)) : await wire.send(request));
};

/** Fills a text's brackets for a side. */
const filler = (side: Side, place: Place, answers: readonly Answer[]): ((text: string) => string) => {
  const names = placeNames(place);
  return (text) =>
    textFor(
      side,
      text.replaceAll(/<([\w.-]+)>/g, (whole, name: string) => {
        if (Object.hasOwn(names, name)) return names[name]!;
        const [index = '', ...keys] = name.split('.');
        if (!/^\d+$/.test(index) || keys.length === 0) return whole;
        let value: unknown = answers[Number(index)]?.body;
        for (const key of keys) value = (value as Record<string, unknown> | undefined)?.[key];
        if (typeof value !== 'string' && typeof value !== 'number') throw new Error(`${side}: nothing at ${whole} in ${JSON.stringify(answers[Number(index)])}`);
        return String(value);
      }),
    );
};
