import { quantityPattern } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { quotasOf } from '../../tenant/quota/budget.ts';
import { keyFault, quantityFault } from '../../tenant/quota/keys.ts';
import type { Causes } from '../strategy.ts';

/** What the schema refuses is refused in its words. */
const schemaPattern = new RegExp(quantityPattern);

/** Of a text that is shown, in characters. */
const shownLength = 100;

/** The field of a key of `spec.resourceQuotas`. */
export const quotaField = (key: string): string => `spec.resourceQuotas[${shortened(key)}]`;

/** Keys and quantities that can bound nothing. What was let in before may stay as it is; another type is for the schema to refuse. */
export const quotaCauses = (object: KubeObject, old: KubeObject | undefined): Causes => {
  const before = old ? quotasOf(old) : {};
  return Object.entries(quotasOf(object)).flatMap(([key, value]) => {
    if (value === before[key] || (typeof value !== 'string' && typeof value !== 'number') || !schemaPattern.test(String(value))) return [];
    const fault = Object.hasOwn(before, key) ? undefined : keyFault(key);
    const why = fault ?? quantityFault(value);
    if (why === undefined) return [];
    const shown = fault === undefined ? value : key;
    return [{ reason: 'FieldValueInvalid', field: quotaField(key), message: `Invalid value: ${JSON.stringify(typeof shown === 'string' ? shortened(shown) : shown)}: ${why}` }];
  });
};

const shortened = (text: string): string => (text.length > shownLength ? `${text.slice(0, shownLength)}…` : text);
