import type { KubeObject } from '../../api/meta/v1/types.ts';
import { Controller } from '../controller/controller.ts';
import { fromReflector, Informer } from '../controller/informer.ts';
import type { Log } from '../controller/log.ts';
import { keepCaBundles, type ApiServicesOptions } from './api-services.ts';
import type { ServingSecret } from './serving-secret.ts';

/** How often the certificate's age is looked at; everything else is told by watches. */
const lookAgainMs = 6 * 3600 * 1000;
const key = 'serving-certificate';

/** What the leader does beside its loop. */
export interface Duty {
  /** Resolves when nothing is written any more. */
  end(): Promise<void>;
}

/** Keeps the shared serving certificate valid and the front's trust in it, at start and whenever an APIService changes. */
export const keepServing = (secret: ServingSecret, apiServices: ApiServicesOptions, log: Log): Duty => {
  const said = new Set<string>();
  const informers = apiServices.names.map((name) => {
    const informer = new Informer<KubeObject>(
      fromReflector({
        client: apiServices.client,
        path: '/apis/apiregistration.k8s.io/v1/apiservices',
        fieldSelector: `metadata.name=${name}`,
        onError: (error) => log.warn({ err: error, apiService: name }, 'watch interrupted'),
      }),
      {},
    );
    informer.subscribe({ onAdd: () => controller.queue.add(key), onUpdate: () => controller.queue.add(key), onDelete: () => controller.queue.add(key) });
    return informer;
  });
  const controller: Controller = new Controller({
    name: key,
    informers,
    log,
    reconcile: async () => {
      const { ca } = await secret.ensure();
      const faults = await keepCaBundles(apiServices, ca);
      for (const fault of faults) if (!said.has(fault)) log.warn({}, fault);
      said.clear();
      for (const fault of faults) said.add(fault);
      controller.queue.addAfter(key, lookAgainMs);
    },
  });
  controller.queue.add(key);
  for (const informer of informers) informer.start();
  controller.start().catch((error: unknown) => log.error({ err: error }, 'the serving certificate cannot be kept'));
  return {
    end: async () => {
      await controller.stop();
      await Promise.all(informers.map((informer) => informer.stop()));
    },
  };
};
