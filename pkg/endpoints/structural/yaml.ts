import { isAlias, isCollection, isMap, isNode, isScalar, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import { maxDepth, scanJson } from './json-scan.ts';
import { quote } from './quote.ts';

interface ParsedYaml {
  value: unknown;
  /** One text in the words of Kubernetes' strict YAML decoder, or none. */
  duplicates: string[];
  /** Why it could not be read; the value means nothing then. */
  error?: string;
}

/** Types of YAML 1.1 that Kubernetes reads as plain strings. */
const foreignTags = new Set(['tag:yaml.org,2002:timestamp', 'tag:yaml.org,2002:binary', 'tag:yaml.org,2002:omap', 'tag:yaml.org,2002:pairs', 'tag:yaml.org,2002:set']);

/** Longer YAML (that is not JSON) would hold up every other request while it is parsed: 256 KiB take about half a second. */
const maxYamlLength = 256 * 1024;

/** The first document of a YAML text as JSON data; YAML 1.1, as Kubernetes reads it: `yes` is true, `0777` is octal. */
export const parseYaml = (bytes: Buffer): ParsedYaml => {
  const plain = jsonWithoutDuplicates(bytes);
  if (plain !== undefined) return { value: plain, duplicates: [] };
  try {
    return read(firstDocument(bytes.toString()));
  } catch (error) {
    if (error instanceof UnsupportedValue) return { value: undefined, duplicates: [], error: error.message };
    // Also thrown for alias bombs and, as a RangeError, for what is nested past the stack.
    return { value: undefined, duplicates: [], error: `yaml: ${error instanceof RangeError ? tooDeep : (error as Error).message}` };
  }
};

const tooDeep = `exceeded max depth of ${maxDepth}`;

/** JSON is YAML, and what most clients send as YAML is JSON; nothing where it is not, or where a key occurs twice. */
const jsonWithoutDuplicates = (bytes: Buffer): unknown => {
  if (bytes[0] !== 0x7b) return undefined;
  try {
    return scanJson(bytes).duplicates.length === 0 ? (JSON.parse(bytes.toString()) as unknown) : undefined;
  } catch {
    return undefined;
  }
};

/** Kubernetes reads one document; the rest of the text is cut off before it can cost anything. */
const firstDocument = (text: string): string => {
  let begun = false;
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end === -1 ? undefined : end);
    if (/^(?:---|\.\.\.)(?:\s|$)/.test(line) && begun) return text.slice(0, at);
    begun ||= !/^\s*(?:[#%].*)?$/.test(line);
    at = end === -1 ? text.length : end + 1;
  }
  return text;
};

/** An upper bound of how deep collections can be nested, found without parsing. */
const refuseDeep = (text: string): void => {
  let flow = 0;
  for (const rune of text) {
    if (rune === '[' || rune === '{') flow += 1;
    else if (rune === ']' || rune === '}') flow = Math.max(0, flow - 1);
    if (flow > maxDepth) throw new Error(tooDeep);
  }
  if (/(?:[-?:] +){1000}/.test(text)) throw new Error(tooDeep);
};

const read = (text: string): ParsedYaml => {
  if (text.length > maxYamlLength) throw new Error(`a document of more than ${maxYamlLength} characters is read as JSON only`);
  refuseDeep(text);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.1',
    merge: true,
    uniqueKeys: false,
    stringKeys: false,
    prettyErrors: false,
    lineCounter: lines,
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || (!foreignTags.has(tag.tag) && !('format' in tag && tag.format === 'TIME'))),
  });
  const [fault] = document.errors;
  if (fault) return { value: undefined, duplicates: [], error: `yaml: line ${lines.linePos(fault.pos[0]).line}: ${fault.message}` };
  const found: string[] = [];
  inspect(document.contents, lines, found);
  const duplicates = found.length === 0 ? [] : [`yaml: unmarshal errors:\n${found.map((line) => `  ${line}`).join('\n')}`];
  return { value: toJson(document), duplicates };
};

/** Finds duplicate keys, what lies below a key before the key itself, and refuses what is nested too deep. */
const inspect = (root: Node | null, lines: LineCounter, found: string[]): void => {
  const visit = (node: unknown, depth: number): void => {
    if (depth > maxDepth) throw new Error(tooDeep);
    if (!isCollection(node)) return;
    if (!isMap(node)) {
      for (const item of node.items) visit(item, depth + 1);
      return;
    }
    const seen = new Set<unknown>();
    for (const { key, value } of node.items) {
      visit(value, depth + 1);
      const name = keyOf(key);
      if (seen.has(name)) {
        const at = isNode(value) ? value.range?.[0] : isNode(key) ? key.range?.[0] : undefined;
        found.push(`line ${lines.linePos(at ?? 0).line}: key ${typeof name === 'string' ? quote(name) : String(name)} already set in map`);
      }
      seen.add(name);
    }
  };
  visit(root, 0);
};

/** A key that JSON can have; an alias counts as a key of its own. */
const keyOf = (key: unknown): unknown => {
  if (isScalar(key)) return key.value;
  if (isAlias(key)) return key;
  throw new Error('invalid map key');
};

const toJson = (document: Document): unknown => {
  const plain = (_key: string, part: unknown): unknown => {
    if (typeof part === 'number' && !Number.isFinite(part)) throw new UnsupportedValue(part);
    return part instanceof Map ? fromMap(part) : part;
  };
  return JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 100, mapAsMap: true }), plain) ?? 'null');
};

/** A number that YAML knows and JSON does not. */
class UnsupportedValue extends Error {
  constructor(value: number) {
    super(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`);
  }
}

const fromMap = (map: Map<unknown, unknown>): Record<string, unknown> =>
  Object.fromEntries([...map].map(([key, value]) => [String(key), value]));
