import { quantityPattern } from '../../../api/apps/v1alpha1/tenant.ts';
import type { KubeObject } from '../../../api/meta/v1/types.ts';
import { quotasOf } from '../../tenant/quota/budget.ts';
import { countFault, keyFault, quantityFault } from '../../tenant/quota/keys.ts';
import type { Causes } from '../strategy.ts';

/** What the schema refuses is refused in its words. */
const schemaPattern = new RegExp(quantityPattern);

/** Each key costs every namespace that shares the budget: what nobody needs is not let in. */
const maxKeys = 64;

/** Of a text that is shown, in characters. */
const shownLength = 100;

/** The field of a key of `spec.resourceQuotas`. */
export const quotaField = (key: string): string => `spec.resourceQuotas[${shortened(key)}]`;

/** Keys and quantities that can bound nothing. What was let in before may stay as it is; another type is for the schema to refuse. */
export const quotaCauses = (object: KubeObject, old: KubeObject | undefined): Causes => {
  const [quotas, before] = [quotasOf(object), old ? quotasOf(old) : {}];
  const count = Object.keys(quotas).length;
  if (count > maxKeys && count > Object.keys(before).length) return [{ reason: 'FieldValueTooMany', field: 'spec.resourceQuotas', message: `Too many: ${count}: must have at most ${maxKeys} items` }];
  return Object.entries(quotas).flatMap(([key, value]) => {
    if (value === before[key] || (typeof value !== 'string' && typeof value !== 'number') || !schemaPattern.test(String(value))) return [];
    const fault = Object.hasOwn(before, key) ? undefined : keyFault(key);
    const why = fault ?? quantityFault(value) ?? countFault(key, value);
    if (why === undefined) return [];
    const shown = fault === undefined ? value : key;
    return [{ reason: 'FieldValueInvalid', field: quotaField(key), message: `Invalid value: ${JSON.stringify(typeof shown === 'string' ? shortened(shown) : shown)}: ${why}` }];
  });
};

const shortened = (text: string): string => (text.length > shownLength ? `${text.slice(0, shownLength)}…` : text);
