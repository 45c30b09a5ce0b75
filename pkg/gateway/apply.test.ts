import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import type { KubeObject } from '../../api/meta/v1/types.ts';
import type { ReplaceTarget } from '../controller/apply.ts';
import { StatusError } from '../kube/status-error.ts';
import { carryOut, type GatewayTargets } from './apply.ts';
import { exampleGateway, exampleRoute, observedOf } from './example.ts';
import { plan } from './plan.ts';

const things = { group: 'x.test', resource: 'things' };

/** Takes everything, but `stumble` may throw for one object. */
const targetsWith = (stumble: (object: KubeObject) => KubeObject | undefined) => {
  const applied: string[] = [];
  const target: ReplaceTarget = {
    get: async (namespace, name) => stumble({ apiVersion: 'v1', kind: 'Any', metadata: { namespace, name } })!,
    apply: async (object) => {
      if (stumble(object)) throw StatusError.conflict(things, object.metadata.name!, 'exists');
      applied.push(object.metadata.name!);
      return object;
    },
    delete: async () => undefined,
    replace: async () => undefined,
  };
  return { applied, targets: { gateway: target, listenerSet: target, issuer: target, certificate: target, redirect: target, account: target } satisfies GatewayTargets };
};

describe('what a gateway makes', () => {
  const gateway = exampleGateway();
  const { actions } = plan(observedOf([exampleRoute('tenant-acme', 'a', ['www.acme.example.org'])], gateway));

  it('is made around an object that is not ours', async () => {
    const { applied, targets } = targetsWith(({ metadata }) => (metadata.name === 'cozystack-gateway' ? { apiVersion: 'v1', kind: 'Issuer', metadata } : undefined));
    const { refused, rejected } = await carryOut(targets, gateway, actions);
    assert.match(refused.join(), /^Issuer tenant-acme\/cozystack-gateway exists and was not made by tenant-apiserver/);
    assert.deepEqual([applied.length, rejected], [actions.length - 1, []]);
  });

  it('is made around an object that the kube-apiserver rejects', async () => {
    const { applied, targets } = targetsWith(({ metadata }) => {
      if (metadata.name === 'cozystack') throw new StatusError(422, 'Invalid', 'listeners: no');
      return undefined;
    });
    const { refused, rejected } = await carryOut(targets, gateway, actions);
    assert.deepEqual([applied.length, refused, rejected.map(({ message }) => message)], [actions.length - 1, [], ['listeners: no']]);
  });

  it('waits while the kube-apiserver is not there', async () => {
    const { targets } = targetsWith(() => {
      throw StatusError.unavailable('down');
    });
    await assert.rejects(carryOut(targets, gateway, actions), /down/);
  });
});
