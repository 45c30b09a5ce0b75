import { describeStorm } from '../integration/storm.ts';

describeStorm({ events: 10_000, readers: 34, stalled: 10, memoryMiB: 600, timeoutMs: 600_000 });
