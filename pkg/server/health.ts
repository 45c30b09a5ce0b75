import type { RequestHandler } from 'express';
import { contextOf } from '../endpoints/context.ts';
import { sendBytes } from '../endpoints/respond.ts';
import { queryOf } from '../endpoints/handlers/scope.ts';

/** One named check: undefined when all is well, else why not, in words that may be shown to anyone. */
export interface HealthCheck {
  name: string;
  check: () => string | undefined;
}

/** `/healthz`, `/livez` and `/readyz`, each check also below its path, `?verbose` and `?exclude=name` as in Kubernetes. */
export const healthHandler = (live: readonly HealthCheck[], ready: readonly HealthCheck[]): RequestHandler => {
  const checksOf = new Map(Object.entries({ healthz: live, livez: live, readyz: ready }));
  return (request, response, next) => {
    const [, path = '', ...below] = contextOf(response).requestInfo.path.split('/');
    const checks = checksOf.get(path);
    if (!checks || !(request.method === 'GET' || request.method === 'HEAD')) return next();
    const query = queryOf(request);
    const excluded = new Set(query.getAll('exclude'));
    const single = below.join('/');
    const chosen = checks.filter(({ name }) => (single ? name === single : !excluded.has(name)));
    if (single && chosen.length === 0) return sendBytes(response, 404, 'text/plain; charset=utf-8', `no check named ${JSON.stringify(single)}\n`);
    const results = chosen.map(({ name, check }) => ({ name, fault: check() }));
    const failed = results.some(({ fault }) => fault !== undefined);
    const lines = results.map(({ name, fault }) => (fault === undefined ? `[+]${name} ok` : `[-]${name} failed: ${fault}`));
    const text = failed || query.has('verbose') ? `${lines.join('\n')}\n${path} check ${failed ? 'failed' : 'passed'}\n` : 'ok';
    sendBytes(response, failed ? 500 : 200, 'text/plain; charset=utf-8', text);
  };
};
