import { describeStorm } from './storm.ts';

describeStorm({ events: 10_000, readers: 1, stalled: 6, memoryMiB: 450, timeoutMs: 300_000 });
