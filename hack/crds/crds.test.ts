import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { crdDocuments } from './crds.ts';

describe('CustomResourceDefinitions for tests', () => {
  for (const { set, some } of [
    { set: 'gateway-api', some: ['gateways', 'httproutes', 'listenersets'] },
    { set: 'gateway-api-experimental', some: ['tlsroutes', 'tcproutes'] },
    { set: 'cert-manager', some: ['certificates', 'issuers'] },
  ] as const) {
    it(`${set} comes out of its Go module`, async function () {
      this.timeout(5 * 60_000); // the module may have to be downloaded
      const documents = (await crdDocuments(set)).map((text) => parse(text));
      const plurals = documents.map(({ kind, spec }) => (assert.equal(kind, 'CustomResourceDefinition'), spec.names.plural));
      for (const plural of some) assert.ok(plurals.includes(plural), plural);
    });
  }
});
