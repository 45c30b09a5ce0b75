import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { Informer, type InformerSource } from '../controller/informer.ts';
import { StatusError } from '../kube/status-error.ts';
import { exampleRoute } from './example.ts';
import { routeInformer, routesOf, type GatewayCaches } from './observe.ts';
import type { Route } from './types.ts';

/** A collection that the kube-apiserver serves, or does not know. */
const informerOf = (routes: Route[] | undefined): Informer<Route> => {
  const source: InformerSource = (handler) => {
    if (routes) handler.replace(routes, '1');
    else handler.interrupted?.(StatusError.notFound({ group: 'gateway.networking.k8s.io', resource: 'tlsroutes' }, ''), true);
    return () => Promise.resolve();
  };
  const informer = new Informer<Route>(source, routeInformer);
  informer.start();
  return informer;
};
const tls = exampleRoute('default', 'api', ['api.acme.example.org'], { kind: 'TLSRoute' });
const key = 'tenant-acme/cozystack';

describe('routes that are looked at', () => {
  for (const { name, served } of [
    { name: 'are of the newest version that is served', served: [[tls], [tls], [tls]] },
    { name: 'are of an older one where there is no newer', served: [undefined, undefined, [tls]] },
    { name: 'are of other kinds where none is served', served: [undefined, undefined, undefined] },
  ] as { name: string; served: (Route[] | undefined)[] }[])
    it(name, () => {
      const http = exampleRoute('tenant-acme', 'www', ['www.acme.example.org']);
      const caches = { httpRoutes: informerOf([http]), grpcRoutes: informerOf(undefined), tlsRoutes: served.map(informerOf) } as unknown as GatewayCaches;
      assert.deepEqual(routesOf(caches, key).map(({ kind }) => kind), served.some(Boolean) ? ['HTTPRoute', 'TLSRoute'] : ['HTTPRoute']);
    });

  it('are kept without what is none of a gateway\'s business', () => {
    const route: Route = { ...tls, metadata: { ...tls.metadata, annotations: { theirs: 'long' } }, spec: { ...tls.spec, rules: [{ matches: [{ path: { value: '/' } }], backendRefs: [{ name: 'app' }] } as object] } };
    const [kept] = informerOf([route]).byIndex('gateway', key);
    assert.deepEqual(kept!.spec, { parentRefs: tls.spec!.parentRefs, hostnames: tls.spec!.hostnames, rules: [{ matches: [{ path: { value: '/' } }] }] });
    assert.equal(kept!.metadata.annotations, undefined);
  });
});
