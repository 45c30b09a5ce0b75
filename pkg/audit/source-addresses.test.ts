import { describe, it } from 'mocha';
import assert from 'node:assert/strict';
import { sourceAddresses } from './source-addresses.ts';

describe('the addresses that a request came from', () => {
  for (const [name, headers, remote, expected] of [
    ['the peer alone', [], '10.0.0.1', ['10.0.0.1']],
    ['none', [], undefined, []],
    ['a peer on a socket for both protocols', [], '::ffff:10.0.0.1', ['10.0.0.1']],
    ['what proxies say, then the peer', ['X-Forwarded-For', '1.1.1.1, 2.2.2.2'], '10.0.0.1', ['1.1.1.1', '2.2.2.2', '10.0.0.1']],
    ['the peer once', ['X-Forwarded-For', '1.1.1.1,10.0.0.1'], '10.0.0.1', ['1.1.1.1', '10.0.0.1']],
    ['the peer again where it is not the last', ['X-Forwarded-For', '10.0.0.1, 1.1.1.1'], '10.0.0.1', ['10.0.0.1', '1.1.1.1', '10.0.0.1']],
    ['no nonsense', ['X-Forwarded-For', 'unknown, , 300.1.1.1, 1.1.1.1:80, fe80::1%eth0, 2.2.2.2'], '10.0.0.1', ['2.2.2.2', '10.0.0.1']],
    ['the first line of a header', ['X-Forwarded-For', '1.1.1.1', 'X-Forwarded-For', '2.2.2.2'], '10.0.0.1', ['1.1.1.1', '10.0.0.1']],
    ['the real address', ['X-Real-Ip', '3.3.3.3'], '10.0.0.1', ['3.3.3.3', '10.0.0.1']],
    ['the real address once', ['X-Forwarded-For', '3.3.3.3, 1.1.1.1', 'X-Real-Ip', '3.3.3.3'], '10.0.0.1', ['3.3.3.3', '1.1.1.1', '10.0.0.1']],
    ['no real address that is none', ['X-Real-Ip', ' 3.3.3'], '10.0.0.1', ['10.0.0.1']],
    ['addresses in their shortest form', ['X-Forwarded-For', '2001:DB8:0:0:0:0:0:1, ::FFFF:a00:2, 010.000.0.03'], '::1', ['2001:db8::1', '10.0.0.2', '10.0.0.3', '::1']],
  ] as const) it(`are ${name}`, () => assert.deepEqual(sourceAddresses(headers, remote), expected));
});
