/** Node hands header values out byte by byte (latin1); Go writes UTF-8. */
export const textOf = (value: string): string => (isAscii(value) ? value : Buffer.from(value, 'latin1').toString('utf8'));

// oxlint-disable-next-line no-control-regex
const isAscii = (value: string): boolean => !/[^\u0000-\u007f]/.test(value);

/** The value of every line of a header, in order and never split. `name` in any case. */
export const headerLines = (rawHeaders: readonly string[], name: string): string[] => {
  const wanted = name.toLowerCase();
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const candidate = rawHeaders[at]!;
    if (candidate.length === wanted.length && candidate.toLowerCase() === wanted) values.push(textOf(rawHeaders[at + 1]!));
  }
  return values;
};

/** The first line of a header, or the empty text. */
export const headerLine = (rawHeaders: readonly string[], name: string): string => headerLines(rawHeaders, name)[0] ?? '';

/**
 * What stands in headers whose names begin with `prefix`, by the rest of the name: in lower case, then percent-decoded, or as
 * it is where it cannot be decoded.
 */
export const extraLines = (rawHeaders: readonly string[], prefix: string): Map<string, string[]> => {
  const wanted = prefix.toLowerCase();
  const extra = new Map<string, string[]>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!name.startsWith(wanted)) continue;
    const key = unescapeKey(name.slice(wanted.length));
    const values = extra.get(key);
    if (values) values.push(textOf(rawHeaders[at + 1]!));
    else extra.set(key, [textOf(rawHeaders[at + 1]!)]);
  }
  return extra;
};

const unescapeKey = (encoded: string): string => {
  if (!encoded.includes('%') || /%(?![0-9A-Fa-f]{2})/.test(encoded)) return encoded;
  return textOf(encoded.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))));
};

/** Headers by whole name or by the beginning of it, in any case. */
export interface HeaderSelection {
  names: readonly string[];
  prefixes: readonly string[];
}

interface HeaderCarrier {
  rawHeaders: string[];
  headers: Record<string, unknown>;
  headersDistinct?: Record<string, unknown>;
}

/** Removes headers from every form in which a request shows them. */
export const removeHeaders = (request: HeaderCarrier, { names, prefixes }: HeaderSelection): void => {
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const beginnings = prefixes.filter((prefix) => prefix !== '').map((prefix) => prefix.toLowerCase());
  const matches = (name: string): boolean => wanted.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
  const { rawHeaders, headers, headersDistinct = {} } = request;
  let kept = 0;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (matches(name)) {
      delete headers[name];
      delete headersDistinct[name];
      continue;
    }
    rawHeaders[kept] = rawHeaders[at]!;
    rawHeaders[kept + 1] = rawHeaders[at + 1]!;
    kept += 2;
  }
  rawHeaders.length = kept;
};
