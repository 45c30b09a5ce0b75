/** Milliseconds since the epoch with a fraction, from which microseconds can be told. */
export type Clock = () => number;

/** How far the steady clock may stray from the wall clock before it is set anew, milliseconds. */
const maxDrift = 2;

/** The wall clock, with a resolution finer than a millisecond. It follows when the wall clock is set. */
export const microClock = (wall: () => number = Date.now, steady: () => number = () => performance.now()): Clock => {
  let offset = wall() - steady();
  return () => {
    const elapsed = steady();
    const now = wall();
    if (Math.abs(now - (offset + elapsed)) > maxDrift) offset = now - elapsed;
    return offset + elapsed;
  };
};

/** RFC 3339 with microseconds, as meta/v1 MicroTime. */
export const microTime = (milliseconds: number): string => {
  const micros = Math.round(milliseconds * 1000);
  const whole = Math.floor(micros / 1000);
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros - whole * 1000).padStart(3, '0')}Z`;
};

/** A duration as Go writes it: `512.3ms`, `1.5s`, `1m2.25s`, `1h0m3s`; to the microsecond. */
export const goDuration = (milliseconds: number): string => {
  const micros = Math.round(milliseconds * 1000);
  if (micros === 0) return '0s';
  if (micros < 1000) return `${micros}µs`;
  if (micros < 1_000_000) return `${micros / 1000}ms`;
  const seconds = Math.floor(micros / 1_000_000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = `${(micros - Math.floor(seconds / 60) * 60_000_000) / 1_000_000}s`;
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${rest}`;
};
