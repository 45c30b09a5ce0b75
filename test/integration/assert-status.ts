import assert from 'node:assert/strict';
import { parse } from 'yaml';
import type { Answer } from '../../hack/controlplane/request.ts';

/** Fails unless an answer is a Status of failure with its own code and, where one is given, this reason. */
export const assertStatus = (answer: Answer, reason: string | undefined): void => {
  const { kind, apiVersion: version, status, code, reason: given } = parse(answer.text); // JSON is YAML
  assert.deepEqual({ kind, version, status, code }, { kind: 'Status', version: 'v1', status: 'Failure', code: answer.status });
  if (reason !== undefined) assert.equal(given, reason);
};
