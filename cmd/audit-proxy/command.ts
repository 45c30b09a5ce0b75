import { ProxyOptions } from '../../pkg/auditproxy/options.ts';
import { startProxy } from '../../pkg/auditproxy/proxy.ts';
import { runProgram } from '../../pkg/server/process.ts';

await runProgram('audit-proxy', new ProxyOptions(), startProxy);
