import { Router } from 'express';
import { sendBytes } from '../endpoints/respond.ts';
import { queryOf } from '../endpoints/handlers/scope.ts';

/** One named check: undefined when all is well, else why not, in words that may be shown to anyone. */
export interface HealthCheck {
  name: string;
  check: () => string | undefined;
}

/** `/healthz`, `/livez` and `/readyz`, each check also below its path, `?verbose` and `?exclude=name` as in Kubernetes. */
export const healthRoutes = (live: readonly HealthCheck[], ready: readonly HealthCheck[]): Router => {
  const router = Router();
  for (const [path, checks] of Object.entries({ healthz: live, livez: live, readyz: ready })) {
    router.get([`/${path}`, `/${path}/*name`], (request, response) => {
      const query = queryOf(request);
      const excluded = new Set(query.getAll('exclude'));
      const single = request.path.slice(path.length + 2);
      const chosen = checks.filter(({ name }) => (single ? name === single : !excluded.has(name)));
      if (single && chosen.length === 0) return sendBytes(response, 404, 'text/plain; charset=utf-8', `no check named ${JSON.stringify(single)}\n`);
      const results = chosen.map(({ name, check }) => ({ name, fault: check() }));
      const failed = results.some(({ fault }) => fault !== undefined);
      const lines = results.map(({ name, fault }) => (fault === undefined ? `[+]${name} ok` : `[-]${name} failed: ${fault}`));
      const text = failed || query.has('verbose') ? `${lines.join('\n')}\n${path} check ${failed ? 'failed' : 'passed'}\n` : 'ok';
      sendBytes(response, failed ? 500 : 200, 'text/plain; charset=utf-8', text);
    });
  }
  return router;
};
