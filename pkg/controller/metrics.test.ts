import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { Registry } from 'prom-client';
import { Controller } from './controller.ts';
import { silentLog } from './log.ts';
import { ManualClock } from './manual-clock.ts';
import { ControllerMetrics } from './metrics.ts';

describe('metrics of controllers', () => {
  it('tell how often each looked at something, how that went, and how much waits', async () => {
    const registry = new Registry();
    const metrics = new ControllerMetrics(registry);
    const controller = new Controller({
      name: 'gateway',
      informers: [],
      reconcile: async (key) => {
        if (key === 'bad') throw new Error('no');
      },
      log: silentLog,
      clock: new ManualClock(0),
    });
    const leave = metrics.watch(controller);
    for (const key of ['good', 'bad', 'better']) controller.queue.add(key);
    assert.match(await registry.metrics(), /tenant_apiserver_queue_depth\{controller="gateway"\} 3/);
    await controller.start();
    await new Promise(setImmediate);
    const text = await registry.metrics();
    assert.match(text, /reconcile_duration_seconds_count\{controller="gateway",result="success"\} 2/);
    assert.match(text, /reconcile_duration_seconds_count\{controller="gateway",result="error"\} 1/);
    assert.match(text, /tenant_apiserver_queue_depth\{controller="gateway"\} 0/);
    leave();
    assert.doesNotMatch(await registry.metrics(), /queue_depth\{/);
    await controller.stop();
  });
});
