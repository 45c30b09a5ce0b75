/**
 * A quantity of a resource, exactly: no number of JavaScript's takes part. Read and written as k8s.io/apimachinery/pkg/api/resource
 * does; what is finer than a billionth is rounded up, away from zero.
 */
export interface Quantity {
  /** In billionths. */
  readonly nano: bigint;
  /** How it was written, and is written again. */
  readonly format: Format;
}

export type Format = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

const billion = 10n ** 9n;

/** Powers of ten by suffix. */
const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
/** Powers of 1024 by suffix. */
const binary: Readonly<Record<string, number>> = { Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5, Ei: 6 };

const pattern = /^([+-]?)(\d+\.?\d*|\.\d+)(?:([KMGTPE]i)|[eE]([+-]?\d+)|([numkMGTPE]?))$/;
/** Beyond this an exponent says no more than "very much" or "next to nothing", and costs no more either. */
const farExponent = 40;

/** Longer texts mean no harm to Kubernetes, but cost without end here. */
const longest = 100;

/** Reads a quantity; undefined where it is none, or longer than any that is meant. A number stands for its shortest text. */
export const parseQuantity = (value: string | number): Quantity | undefined => {
  const text = String(value);
  const [, sign, digits, power, exponent, suffix = ''] = (text.length <= longest && pattern.exec(text)) || [];
  if (digits === undefined) return undefined;
  const [whole = '', fraction = ''] = digits.split('.');
  const amount = BigInt(whole + fraction);
  const tens = (exponent === undefined ? decimal[suffix]! : clamp(Number(exponent), fraction.length)) - fraction.length + 9;
  const nano = (power ? 1024n ** BigInt(binary[power]!) : 1n) * amount;
  const scaled = tens >= 0 ? nano * 10n ** BigInt(tens) : ceilingDivide(nano, 10n ** BigInt(-tens));
  return { nano: sign === '-' ? -scaled : scaled, format: power ? 'BinarySI' : exponent === undefined ? 'DecimalSI' : 'DecimalExponent' };
};

/** Keeps powers of ten within what can be told apart, whatever was written. */
const clamp = (exponent: number, fractionDigits: number): number => Math.max(-farExponent, Math.min(farExponent + fractionDigits, exponent));

const ceilingDivide = (amount: bigint, divisor: bigint): bigint => (amount + divisor - 1n) / divisor;

export const zero: Quantity = { nano: 0n, format: 'DecimalSI' };

/** The sum, in the format of the first that is not zero. */
export const add = (a: Quantity, b: Quantity): Quantity => ({ nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format });
export const subtract = (a: Quantity, b: Quantity): Quantity => ({ nano: a.nano - b.nano, format: a.nano === 0n ? b.format : a.format });
export const isNegative = ({ nano }: Quantity): boolean => nano < 0n;
export const exceeds = (a: Quantity, b: Quantity): boolean => a.nano > b.nano;

/** The least multiple of a unit that is no less than a quantity's part; `unit` in billionths. */
export const divideUp = ({ nano, format }: Quantity, divisor: Quantity, unit = billion): Quantity => {
  if (divisor.nano <= 0n || nano < 0n) throw new RangeError('only what is not negative is divided, by what is more than zero');
  return { nano: ceilingDivide(nano * billion, divisor.nano * unit) * unit, format };
};

/** The canonical text: no fraction, and the largest suffix that needs none. */
export const formatQuantity = ({ nano, format }: Quantity): string => {
  if (nano === 0n) return '0';
  const [sign, amount] = nano < 0n ? ['-', -nano] : ['', nano];
  if (format === 'BinarySI' && amount >= 1024n * billion && amount % billion === 0n) {
    const [rest, power] = withoutFactors(amount / billion, 1024n, 6);
    return `${sign}${rest}${['', ...Object.keys(binary)][power]}`;
  }
  const [rest, steps] = withoutFactors(amount, 1000n, format === 'DecimalExponent' ? farExponent : 9);
  const exponent = steps * 3 - 9;
  if (format === 'DecimalExponent') return `${sign}${rest}${exponent === 0 ? '' : `e${exponent}`}`;
  return `${sign}${rest}${Object.keys(decimal).find((suffix) => decimal[suffix] === exponent)!}`;
};

/** What is left when a factor is taken out as often as it is in, and how often that is. */
const withoutFactors = (amount: bigint, factor: bigint, atMost: number): [rest: bigint, times: number] => {
  let [rest, times] = [amount, 0];
  while (times < atMost && rest % factor === 0n) {
    rest /= factor;
    times += 1;
  }
  return [rest, times];
};
