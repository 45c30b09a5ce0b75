import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hostCertificate, namesOf } from './names.ts';

const label = (maxLength: number) => fc.stringMatching(new RegExp(`^[a-z]([-a-z0-9]{0,${maxLength - 2}}[a-z0-9])?$`));
const long = fc.tuple(fc.integer({ min: 30, max: 120 }), fc.nat(8)).map(([length, offset]) => `g${'gate-way.'.repeat(20).slice(offset, offset + length)}`.replace(/^g[-.]/, 'gx').replace(/[-.]$/, 'x'));
const gateway = fc.oneof(fc.constant('cozystack'), long, label(63), fc.tuple(label(60), label(60)).map(([a, b]) => `${a}.${b}`));
const host = fc.tuple(fc.oneof(label(63), long.map((text) => text.replaceAll('.', 'x').slice(0, 63).replace(/-$/, 'x'))), fc.constantFrom('example.org', 'a.very.long.domain.example.net')).map(([first, rest]) => `${first}.${rest}`);

describe('names of Certificates', () => {
  const name = fc.oneof(fc.tuple(gateway, host).map(([of, served]) => hostCertificate(of, served)), gateway.map((of) => namesOf(of).wildcardCertificate));

  it('fit into a label, and are names, whatever the gateway and the host are called', () =>
    fc.assert(fc.property(name, (found) => assert.match(found, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)), { numRuns: 300 }));
  it('have 63 characters at most', () => fc.assert(fc.property(name, (found) => assert.ok(found.length <= 63, found)), { numRuns: 300 }));
  it('differ where host or gateway do', () =>
    fc.assert(
      fc.property(gateway, gateway, host, host, (one, other, a, b) => {
        if (a !== b) assert.notEqual(hostCertificate(one, a), hostCertificate(one, b));
        if (one !== other) assert.notEqual(hostCertificate(one, a), hostCertificate(other, a));
        assert.notEqual(namesOf(one).wildcardCertificate, hostCertificate(other, b));
      }),
    ));
  it('differ where only the end of a long name does', () => {
    const [one, other] = ['x', 'y'].map((end) => `${'g'.repeat(60)}${end}`) as [string, string];
    assert.notEqual(hostCertificate(one, 'a.example.org'), hostCertificate(other, 'a.example.org'));
    assert.notEqual(namesOf(one).wildcardCertificate, namesOf(other).wildcardCertificate);
  });
  it('are those of Cozystack where they fit', () => {
    assert.equal(namesOf('cozystack').wildcardCertificate, 'cozystack-gateway-tls');
    assert.match(hostCertificate('cozystack', 'harbor.example.org'), /^cozystack-harbor-[0-9a-f]{8}-tls$/);
  });
});
