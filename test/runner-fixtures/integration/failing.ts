import assert from 'node:assert/strict';

describe('failing', () => {
  it('compares', () => assert.deepEqual({ a: 1 }, { a: 2 }));
  it('passes', () => {});
});
