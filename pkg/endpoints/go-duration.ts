const unitMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const number = String.raw`(?:\d+\.?\d*|\.\d+)`;
const whole = new RegExp(`^[-+]?(?:0|(?:${number}(?:ns|us|µs|μs|ms|s|m|h))+)$`);
const part = new RegExp(`(${number})(ns|us|µs|μs|ms|s|m|h)`, 'g');

/** Milliseconds of a duration as Go writes it (`500ms`, `1m30s`, `-1h`); undefined where it is none. */
export const goDurationMs = (text: string): number | undefined => {
  if (!whole.test(text)) return undefined;
  const sum = [...text.matchAll(part)].reduce((total, [, value, unit]) => total + Number(value) * unitMs[unit!]!, 0);
  return text.startsWith('-') ? -sum : sum;
};
