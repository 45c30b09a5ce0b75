import { parseArgs } from 'node:util';
import { goDurationMs } from '../endpoints/go-duration.ts';

/** One command-line flag. `set` is called for each value given. */
export interface Flag {
  name: string;
  /** What the value is, as in `path`; absent for booleans. */
  value?: string;
  /** Text of the default, for the documentation. */
  default: string;
  help: string;
  set(value: string): void;
}

/** A command's flags: parsed from arguments, and listed for its documentation. */
export class Flags {
  readonly #flags: Flag[] = [];

  add(flag: Flag): void {
    this.#flags.push(flag);
  }

  get all(): readonly Flag[] {
    return this.#flags;
  }

  /**
   * Hands each value to its flag; booleans take `--flag`, `--flag=true` and `--flag=false`.
   * @throws Error for an unknown flag, a missing value, or an argument that is no flag
   */
  parse(args: readonly string[]): void {
    const known = new Map(this.#flags.map((flag) => [flag.name, flag]));
    const { tokens } = parseArgs({
      args: [...args],
      strict: false,
      tokens: true,
      options: Object.fromEntries(this.#flags.map((flag) => [flag.name, { type: flag.value ? 'string' : 'boolean' }])),
    });
    for (const token of tokens) {
      if (token.kind !== 'option') throw new Error(`unexpected argument ${JSON.stringify(token.kind === 'positional' ? token.value : '--')}; see --help`);
      const flag = known.get(token.name);
      if (!flag) throw new Error(`unknown flag ${token.rawName}; see --help`);
      if (flag.value && token.value === undefined) throw new Error(`flag --${flag.name} needs a value: ${flag.value}`);
      flag.set(token.value ?? 'true');
    }
  }

  /** One flag a line, for `--help`. */
  usage(): string {
    return this.#flags.map(({ name, value, help, default: shown }) => `  --${name}${value ? ` <${value}>` : ''}\n        ${help} (default: ${shown || 'none'})`).join('\n');
  }

  /** The flags as a Markdown table, for the README. */
  markdown(): string {
    const rows = this.#flags.map(({ name, value, help, default: shown }) => `| \`--${name}${value ? ` <${value}>` : ''}\` | ${shown ? `\`${shown}\`` : 'none'} | ${help} |`);
    return ['| Flag | Default | Meaning |', '|---|---|---|', ...rows].join('\n');
  }
}

/** @throws Error */
export const booleanValue = (name: string, value: string): boolean => {
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw new Error(`flag --${name}: ${JSON.stringify(value)} is neither true nor false`);
};

/** @throws Error */
export const integerValue = (name: string, value: string): number => {
  if (!/^\d{1,9}$/.test(value)) throw new Error(`flag --${name}: ${JSON.stringify(value)} is not a whole number`);
  return Number(value);
};

/** A number, as `0.5`. @throws Error */
export const numberValue = (name: string, value: string): number => {
  if (!/^\d{1,9}(?:\.\d{1,9})?$/.test(value)) throw new Error(`flag --${name}: ${JSON.stringify(value)} is not a number`);
  return Number(value);
};

/** A duration as Go writes it, as `500ms`, `30s` or `1h2m3.5s`, in milliseconds. @throws Error */
export const durationValue = (name: string, value: string): number => {
  const milliseconds = goDurationMs(value);
  if (milliseconds === undefined || milliseconds < 0) throw new Error(`flag --${name}: ${JSON.stringify(value)} is no duration like 500ms, 30s or 1m30s`);
  return milliseconds;
};
