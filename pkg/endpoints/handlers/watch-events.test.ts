import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import { tenants } from '../../../api/apps/v1alpha1/tenant.ts';
import { CacheEntry } from '../../storage/cache-entry.ts';
import { compileColumns } from '../table.ts';
import { eventEncoder } from './watch-events.ts';

describe('events of a watch', () => {
  it('are kept for all watches, and keep no more memory than their bytes', () => {
    const encoder = eventEncoder(tenants, { mediaType: 'application/json', pretty: false }, compileColumns(tenants), { now: () => new Date(), include: 'Metadata' });
    const entry = new CacheEntry({ apiVersion: 'apps.cozystack.io/v1alpha1', kind: 'Tenant', metadata: { namespace: 'n', name: 'a', resourceVersion: '7' } });
    const bytes = encoder.event('ADDED', entry);
    assert.equal(encoder.event('ADDED', entry), bytes);
    assert.equal(bytes.buffer.byteLength, bytes.length, 'not a slice of a pool, which it would keep whole');
  });
});
