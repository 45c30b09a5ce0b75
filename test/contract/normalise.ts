import type { Answer } from './answer.ts';

type Json = Record<string, any>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const age = /^(\d+[smhd]){1,2}$/;
const drawn = /(?<=-|A_|a{9})[bcdfghjklmnpqrstvwxz2456789]{5}\b/g;

/**
 * Takes out of one side's answers what must differ between two objects, and keeps how they relate: uids by the order in which
 * they appear, versions of objects by their rank among the case's. Of a list's version only that there is one, for others write as well.
 */
export const normalised = (answers: readonly Answer[], namesAreDrawn: boolean): Answer[] => {
  const uids = new Map<string, string>();
  const ranks = ranksOf(answers);
  const text = (value: string): string => {
    const plain = value
      .replaceAll(uid, (found) => uids.get(found) ?? (uids.set(found, `<uid ${uids.size + 1}>`), uids.get(found)!))
      .replaceAll(time, '<time>')
      .replaceAll(/(resource version: |Precondition failed: ResourceVersion in precondition: \d+, ResourceVersion in object meta: |current: |ResourceVersion in record \(|Code: \d, Key: [^,]*, ResourceVersion: )\d+( \(\d+\))?/gi, '$1<version>')
      .replaceAll(/(resourceVersion: "?)\d+/g, '$1<version>')
      .replaceAll(/("resourceVersion\\?":\\?")\d+/g, '$1<version>')
      .replaceAll(/\b\d+(\.\d+)?(ms|µs)\b/g, '<duration>');
    return age.test(plain) ? '<age>' : namesAreDrawn ? plain.replaceAll(drawn, '<drawn>') : plain;
  };
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') {
      if (key === 'resourceVersion') return ranks.get(value) ?? (value === '' ? '' : '<version>');
      if (key === 'continue' && value !== '') return token(value);
      return text(value);
    }
    if (Array.isArray(value)) return value.filter((item) => !isPassingBookmark(item)).map((item) => walk(item, ''));
    if (!isObject(value)) return value;
    const ofList = isObject(value.metadata) && (Array.isArray(value.items) || Array.isArray(value.rows) || 'k8s.io/initial-events-end' in (value.metadata.annotations ?? {}));
    const source = ofList ? { ...value, metadata: { ...value.metadata, resourceVersion: value.metadata.resourceVersion && 'of a list' } } : value;
    const walked = Object.fromEntries(Object.entries(source).map(([name, part]) => [name, walk(part, name)]));
    if (Array.isArray(walked.managedFields)) walked.managedFields = (walked.managedFields as Json[]).toSorted((a, b) => (entryKey(a) < entryKey(b) ? -1 : 1));
    return walked.kind === 'Status' ? withSortedCauses(walked) : walked;
  };
  return answers.map(({ status, headers, body }) => ({ status, headers: walk(headers, '') as Answer['headers'], body: walk(body, '') }));
};

/** `version 1` for the least version of an object, and so on. */
const ranksOf = (answers: readonly Answer[]): Map<string, string> => {
  const versions = new Set<string>();
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(collect);
    if (!isObject(value)) return;
    const { metadata, type } = value;
    const isEvent = type === 'BOOKMARK' || type === 'ERROR';
    if (isObject(metadata) && typeof metadata.resourceVersion === 'string' && (metadata.uid !== undefined || metadata.name !== undefined)) versions.add(metadata.resourceVersion);
    if (!isEvent) Object.values(value).forEach(collect);
  };
  answers.forEach(({ body }) => collect(body));
  const sorted = [...versions].filter((version) => /^\d+$/.test(version)).toSorted((a, b) => Number(a) - Number(b));
  return new Map(sorted.map((version, index) => [version, `<version ${index + 1}>`]));
};

/** One that ends nothing: when such come is nowhere promised. */
const isPassingBookmark = (event: unknown): boolean =>
  isObject(event) && event.type === 'BOOKMARK' && !JSON.stringify(event.object).includes('initial-events-end');

/** Entries stand in the order of their times, which are whole seconds and may differ from side to side. */
const entryKey = ({ operation, manager, subresource }: Json): string => JSON.stringify([operation, manager, subresource]);

/** What a continue token says, its version aside. */
const token = (text: string): unknown => {
  try {
    const { rv, ...rest } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Json;
    return { ...rest, rv: rv === -1 ? -1 : '<version>', encoding: /^[\w-]+$/.test(text) ? 'raw' : 'padded' };
  } catch {
    return text;
  }
};

/** Several causes come in any order, and the message lists them in it. */
const withSortedCauses = (status: Json): Json => {
  const causes: Json[] = status.details?.causes ?? [];
  if (causes.length < 2) return status;
  const sorted = causes.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const listed = causes.every(({ message }) => String(status.message).includes(message)) ? String(status.message).replace(/\[.*\]$|(?<=^).*(?= \(and \d+ more)/s, '<causes>') : status.message;
  return { ...status, message: listed, details: { ...status.details, causes: sorted } };
};
