/** Text as Kubernetes' own language prints it, which messages and table cells are made of. */

const shortEscapes: Record<string, string> = { '\x07': '\\a', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v', '\\': '\\\\' };

const escapeRune = (rune: string, quote: string): string => {
  if (rune === quote) return `\\${quote}`;
  const short = shortEscapes[rune];
  if (short !== undefined) return short;
  const code = rune.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(rune)) return rune;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
};

/** A string in double quotes, with what cannot be printed escaped: Go's `strconv.Quote` and `%q`. */
export const quote = (text: string): string => `"${Array.from(text, (rune) => escapeRune(rune, '"')).join('')}"`;

/** One byte in single quotes, as syntax errors show it. */
export const quoteByte = (byte: number): string => {
  const rune = String.fromCharCode(byte);
  return rune === '"' ? `'"'` : `'${escapeRune(rune, "'")}'`;
};

/** A number as Go's `%v` prints it: whole numbers in full, others with an exponent below 1e-4 and from 1e6 on. */
export const printNumber = (value: number): string => {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value).toString();
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
};

/** Compact JSON with sorted keys and with `<`, `>`, `&` escaped: Go's `json.Marshal` of a map. */
export const goJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  ).replace(/[<>&\u2028\u2029]/g, (rune) => `\\u${rune.charCodeAt(0).toString(16).padStart(4, '0')}`);
