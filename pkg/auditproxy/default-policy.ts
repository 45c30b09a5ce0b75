import type { Policy } from '../audit/policy.ts';

/** What is recorded where no policy file says otherwise: changes, with what was asked and what was answered; no reads. */
export const defaultPolicy: Policy = {
  omitStages: ['RequestReceived'],
  rules: [{ level: 'RequestResponse', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] }],
};
