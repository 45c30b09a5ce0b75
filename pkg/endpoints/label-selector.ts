import { parseLabelSelector, type LabelRequirement } from '../authorization/selectors.ts';
import { StatusError } from '../kube/status-error.ts';

export type Labels = Readonly<Record<string, string>> | undefined;

/** All requirements of a selector must hold. */
export interface LabelSelector {
  readonly empty: boolean;
  matches: (labels: Labels) => boolean;
}

/** @throws StatusError 400 */
export const labelSelector = (text: string): LabelSelector => {
  const requirements = parsed(text);
  return { empty: requirements.length === 0, matches: (labels) => requirements.every((requirement) => requirement(labels)) };
};

const parsed = (text: string): ((labels: Labels) => boolean)[] => {
  try {
    return parseLabelSelector(text).map(compiled);
  } catch (error) {
    throw StatusError.badRequest((error as Error).message, error);
  }
};

const compiled = ({ key, operator, values }: LabelRequirement): ((labels: Labels) => boolean) => {
  const valueIn = (labels: Labels): string | undefined => (labels && Object.hasOwn(labels, key) ? labels[key] : undefined);
  const wanted = new Set(values);
  switch (operator) {
    case 'Exists':
      return (labels) => valueIn(labels) !== undefined;
    case 'DoesNotExist':
      return (labels) => valueIn(labels) === undefined;
    case 'In':
      return (labels) => wanted.has(valueIn(labels)!);
    case 'NotIn':
      return (labels) => !wanted.has(valueIn(labels)!);
    default: {
      const bound = BigInt(values[0]!);
      return (labels) => {
        const value = valueIn(labels);
        if (value === undefined || !/^[-+]?\d+$/.test(value)) return false;
        return operator === 'Gt' ? BigInt(value) > bound : BigInt(value) < bound;
      };
    }
  }
};
