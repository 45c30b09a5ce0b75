import type { Case } from '../case.ts';
import { applies } from './apply.ts';
import { creates } from './create.ts';
import { deletes } from './delete.ts';
import { gatewayRules } from './gateway-rules.ts';
import { lists } from './list.ts';
import { patches } from './patch.ts';
import { quotaCases } from './quota.ts';
import { reads } from './read.ts';
import { representations } from './representation.ts';
import { statuses } from './status.ts';
import { updates } from './update.ts';
import { validations } from './validation.ts';
import { watches } from './watch.ts';

/** All cases, by what they are about. */
export const areas: Readonly<Record<string, readonly Case[]>> = {
  read: reads,
  create: creates,
  update: updates,
  patch: patches,
  apply: applies,
  delete: deletes,
  status: statuses,
  list: lists,
  watch: watches,
  representation: representations,
  validation: validations,
  gateway: gatewayRules,
  quota: quotaCases,
};
