import { isAlias, isCollection, isMap, isNode, isScalar, LineCounter, parseAllDocuments, type Document, type Node } from 'yaml';
import { maxDepth } from './json-scan.ts';
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

/** The one (first) document of a YAML text as JSON data; YAML 1.1, as Kubernetes reads it: `yes` is true, `0777` is octal. */
export const parseYaml = (text: string): ParsedYaml => {
  try {
    return read(text);
  } catch (error) {
    // Thrown for alias bombs and, as a RangeError, for flow collections nested past the stack.
    return { value: undefined, duplicates: [], error: `yaml: ${error instanceof RangeError ? 'exceeded max depth of 10000' : (error as Error).message}` };
  }
};

const read = (text: string): ParsedYaml => {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    version: '1.1',
    merge: true,
    uniqueKeys: false,
    stringKeys: false,
    prettyErrors: false,
    lineCounter: lines,
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || (!foreignTags.has(tag.tag) && !('format' in tag && tag.format === 'TIME'))),
  });
  const document = Array.isArray(documents) ? documents[0] : undefined;
  if (!document) return { value: null, duplicates: [] };
  const [fault] = document.errors;
  if (fault) return { value: undefined, duplicates: [], error: `yaml: line ${lines.linePos(fault.pos[0]).line}: ${fault.message}` };
  const found: string[] = [];
  inspect(document.contents as Node | null, lines, found);
  const duplicates = found.length === 0 ? [] : [`yaml: unmarshal errors:\n${found.map((line) => `  ${line}`).join('\n')}`];
  return { value: toJson(document), duplicates };
};

/** Finds duplicate keys, what lies below a key before the key itself, and refuses what is nested too deep. */
const inspect = (root: Node | null, lines: LineCounter, found: string[]): void => {
  const visit = (node: unknown, depth: number): void => {
    if (depth > maxDepth) throw new Error(`exceeded max depth of ${maxDepth}`);
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

const toJson = (document: Document): unknown =>
  JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 100, mapAsMap: true }), (_key, part: unknown) => (part instanceof Map ? fromMap(part) : part)) ?? 'null');

const fromMap = (map: Map<unknown, unknown>): Record<string, unknown> =>
  Object.fromEntries([...map].map(([key, value]) => [String(key), value]));
