export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** An own property, so that keys such as `constructor` never find what JavaScript put there. */
export const own = <V>(map: Record<string, V> | undefined, key: string): V | undefined =>
  map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
