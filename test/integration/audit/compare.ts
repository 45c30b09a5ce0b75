import type { Event } from '../../../pkg/audit/event.ts';
import { withOurGroups } from '../../contract/sides.ts';

type Json = Record<string, any>;

/** Events of one side, without what must differ from those of the other. */
export const normalisedEvents = (events: readonly Event[]): Json[] => {
  const names = new Map<string, string>();
  const named = (kind: string, value: string): string => {
    if (!names.has(value)) names.set(value, `<${kind} ${names.size + 1}>`);
    return names.get(value)!;
  };
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return plain(value, key, named);
    if (Array.isArray(value)) {
      const items = value.map((item) => walk(item, ''));
      return key === 'managedFields' || key === 'causes' ? items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, walk(part, name)]));
  };
  return events.map(({ annotations = {}, ...event }) => {
    const timeless = Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith('apiserver.latency.k8s.io/')));
    return walk({ ...event, ...(Object.keys(timeless).length > 0 && { annotations: timeless }) }, '') as Json;
  });
};

const plain = (value: string, key: string, named: (kind: string, value: string) => string): unknown => {
  if (key === 'resourceVersion') return value === '' ? '' : /^\d+$/.test(value) ? '<version>' : value;
  if (key === 'requestReceivedTimestamp' || key === 'stageTimestamp') return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(value) ? '<time with microseconds>' : value;
  if (key === 'continue' && value !== '') return '<token>';
  return withOurGroups(value)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (uid) => named('uid', uid))
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/(?<=drawn-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '<drawn>')
    .replaceAll(/^\d+s$/g, '<age>');
};

/** Where two values differ, a line each, as `path: ours | theirs`. */
export const differences = (ours: unknown, theirs: unknown, path = ''): string[] => {
  if (!isJson(ours) || !isJson(theirs)) return JSON.stringify(ours) === JSON.stringify(theirs) ? [] : [`${path}: ${JSON.stringify(ours)} | ${JSON.stringify(theirs)}`];
  return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].flatMap((key) => differences(ours[key], theirs[key], `${path}.${key}`));
};

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/**
 * Our events name what a write has made: uid, and a generated name. The kube-apiserver's name only what the request said; where they
 * say nothing, ours may say more.
 */
export const withoutWritten = (ours: readonly Event[], theirs: readonly Event[]): Event[] =>
  ours.map((event, index) => {
    const reference = theirs[index]?.objectRef;
    if (!event.objectRef || !reference) return event;
    const { uid, name, ...rest } = event.objectRef;
    return { ...event, objectRef: { ...rest, ...(reference.uid && { uid }), ...(reference.name && { name }) } };
  });
