import type { Log } from '../../pkg/controller/log.ts';
import type { Strategy } from '../../pkg/registry/strategy.ts';
import { ApiServer } from '../../pkg/server/server.ts';
import { keepServing } from '../../pkg/server/serving-controller.ts';
import { loopMetrics, startLoop, type Loop } from './loop.ts';
import type { ProgramConfig } from './options.ts';

export interface RunningServer {
  port: number;
  server: ApiServer;
  loop: Loop | undefined;
  stop(): Promise<void>;
}

/** Starts the server and, where configured, its loop. */
export const startServer = async (config: ProgramConfig, strategies: readonly Strategy[], log: Log): Promise<RunningServer> => {
  const server = new ApiServer({ config, strategies, log });
  const port = await server.start();
  log.info({ port, address: config.bindAddress }, 'listening');
  const { namespace, serviceName, identity } = config;
  const names = [...new Set(strategies.map(({ definition }) => `${definition.version}.${definition.group}`))];
  const { servingSecret, client } = server;
  const loop = config.runLoop
    ? startLoop({
        client,
        tenants: server.store('tenants'),
        gateways: server.store('tenantgateways'),
        settings: config.tenants,
        gatewaySettings: config.gateways,
        limits: config.loop,
        identity,
        namespace,
        log,
        metrics: loopMetrics(server.metrics.registry),
        duties: servingSecret ? [() => keepServing(servingSecret, { client, names, service: { namespace, name: serviceName } }, log)] : [],
      })
    : undefined;
  return {
    port,
    server,
    loop,
    stop: async () => {
      await loop?.stop(); // gives the lease back first, so that another replica takes over at once
      await server.stop();
    },
  };
};
