import { textTable } from './text-table.ts';

/** A CPU profile as V8 writes it, as far as it is read here; times in microseconds. */
export interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

const shown = 40;

/** Where the time went, by folder or package and by function; the time in which nothing was to do is left out. */
export const profileSummary = ({ nodes, samples, timeDeltas }: CpuProfile, root: string): string => {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const byPlace = new Map<string, number>();
  const byFunction = new Map<string, number>();
  let total = 0;
  for (const [index, id] of samples.entries()) {
    const { functionName, url, lineNumber } = frames.get(id)!;
    if (functionName === '(idle)') continue;
    const time = timeDeltas[index]!;
    const file = shortened(url, root);
    total += time;
    add(byPlace, placeOf(file) || functionName, time);
    add(byFunction, file ? `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}` : functionName, time);
  }
  return [byPlace, byFunction].map((times) => table(times, total)).join('\n\n') + '\n';
};

const add = (times: Map<string, number>, key: string, time: number): void => void times.set(key, (times.get(key) ?? 0) + time);

const shortened = (url: string, root: string): string => {
  const file = url.replace(/^file:\/\//, '').replace(`${root}/`, '');
  const at = file.lastIndexOf('node_modules/');
  return at === -1 ? file : file.slice(at);
};

/** The package, or the folder two levels deep. */
const placeOf = (file: string): string =>
  file.startsWith('node_modules/') ? file.split('/').slice(0, file.startsWith('node_modules/@') ? 3 : 2).join('/') : file.split('/').slice(0, 2).join('/');

const table = (times: ReadonlyMap<string, number>, total: number): string =>
  textTable(
    ['self time', 'ms', '%'],
    [...times].sort(([, a], [, b]) => b - a).slice(0, shown).map(([key, time]) => [key, (time / 1000).toFixed(1), ((100 * time) / total).toFixed(1)]),
  );
