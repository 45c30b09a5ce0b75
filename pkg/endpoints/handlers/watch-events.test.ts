import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { tenants } from '../../../api/apps/v1alpha1/tenant.ts';
import { CacheEntry } from '../../storage/cache-entry.ts';
import { compileColumns } from '../table.ts';
import { eventEncoder } from './watch-events.ts';

const encoder = eventEncoder(tenants, { mediaType: 'application/json', pretty: false }, compileColumns(tenants), { now: () => new Date(), include: 'Metadata' });
const entryNamed = (name: string): CacheEntry => new CacheEntry({ apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace: 'n', name, resourceVersion: '7' } });

describe('events of a watch', () => {
  it('are kept for all watches, and keep no more memory than their bytes', () => {
    const entry = entryNamed('a');
    const bytes = encoder.event('ADDED', entry);
    assert.equal(encoder.event('ADDED', entry), bytes);
    assert.equal(bytes.buffer.byteLength, bytes.length, 'not a slice of a pool, which it would keep whole');
  });

  it('are not kept for ever', () => {
    const entry = entryNamed('early');
    const bytes = encoder.event('ADDED', entry);
    for (let count = 0; count < 1024; count += 1) encoder.event('ADDED', entryNamed(`x${count}`));
    const again = encoder.event('ADDED', entry);
    assert.notEqual(again, bytes);
    assert.deepEqual(again, bytes);
  });
});
