const named = new Map([
  ['"', String.raw`\"`],
  ['\\', String.raw`\\`],
  ['\u0007', String.raw`\a`],
  ['\b', String.raw`\b`],
  ['\f', String.raw`\f`],
  ['\n', String.raw`\n`],
  ['\r', String.raw`\r`],
  ['\t', String.raw`\t`],
  ['\v', String.raw`\v`],
]);

/** A text as Go's `%q` writes it, for messages that must be the kube-apiserver's own. */
export const quoted = (text: string): string => `"${text.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/gu, escaped)}"`;

const escaped = (character: string): string => {
  const name = named.get(character);
  if (name) return name;
  const code = character.codePointAt(0)!;
  if (code < 0x20 || code === 0x7f) return String.raw`\x${hex(code, 2)}`;
  if (/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character)) return character;
  return code > 0xffff ? String.raw`\U${hex(code, 8)}` : String.raw`\u${hex(code, 4)}`;
};

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');

/** A list of texts as Go's `%q` writes it. */
export const quotedList = (texts: readonly string[]): string => `[${texts.map(quoted).join(' ')}]`;
