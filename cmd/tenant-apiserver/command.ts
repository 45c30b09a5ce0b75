import { strategiesFor } from '../../pkg/registry/registry.ts';
import { runProgram } from '../../pkg/server/process.ts';
import { ProgramOptions } from './options.ts';
import { startServer } from './run.ts';

await runProgram('tenant-apiserver', new ProgramOptions(), (config, log) => startServer(config, Object.values(strategiesFor({ issuerNames: [...config.gateways.issuers.keys()] })), log));
