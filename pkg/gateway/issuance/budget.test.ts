import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { allocate, type Issuance, type Wanted } from './budget.ts';
import { explainWaits } from './explain.ts';
import { defaultIssuers, type RateLimits } from './issuers.ts';
import { registeredDomain, registeredDomains, setOf } from './names.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const now = Date.UTC(2026, 11, 1);
const prod = defaultIssuers.get('letsencrypt-prod')!.limits;

const wants = (gateway: string, hosts: readonly string[], since = now): Wanted => ({ gateway, certificate: `${hosts[0]}-tls`, domains: registeredDomains(hosts), set: setOf(hosts), since });
const had = (gateway: string, hosts: readonly string[], ago: number): Issuance => {
  const { since: _since, ...order } = wants(gateway, hosts);
  return { ...order, at: now - ago };
};
const hostsOf = (count: number, domain = 'example.org', prefix = 'h'): string[] => Array.from({ length: count }, (_, index) => `${prefix}${index}.${domain}`);

describe('the registered domain of a host', () => {
  for (const [host, domain] of [
    ['www.example.org', 'example.org'],
    ['a.b.c.example.co.uk', 'example.co.uk'],
    ['*.dev.example.org', 'example.org'],
    ['Example.ORG.', 'example.org'],
    ['my.shop.github.io', 'shop.github.io'],
    ['github.io', 'github.io'],
    ['localhost', 'localhost'],
  ] as const)
    it(`${host}: ${domain}`, () => assert.equal(registeredDomain(host), domain));
});

describe('sets of names', () => {
  it('are alike in any order and case', () => assert.equal(setOf(['a.example.org', 'B.example.org']), setOf(['b.EXAMPLE.org.', 'a.example.org', 'a.example.org'])));
  it('differ by a name', () => assert.notEqual(setOf(['a.example.org']), setOf(['a.example.org', 'b.example.org'])));
});

describe('the budget of an ACME server', () => {
  const fifty = hostsOf(50).map((host, index) => had('a/gw', [host], 6 * dayMs - index * hourMs));

  it('grants everything within the limits', () => {
    const wanted = hostsOf(50).map((host) => wants('a/gw', [host]));
    assert.deepEqual(allocate(prod, [], wanted, now).waiting, []);
  });

  it('grants fifty new certificates a week for a registered domain, whoever asks, and tells when the others come', () => {
    const wanted = [wants('b/gw', ['x.example.org']), wants('b/gw', ['y.example.org']), wants('b/gw', ['z.example.net'])];
    const { granted, waiting } = allocate(prod, fifty, wanted, now);
    assert.deepEqual(granted.map(({ certificate }) => certificate), ['z.example.net-tls']);
    assert.deepEqual(waiting.map(({ wanted: { certificate }, until, limit, domain }) => [certificate, until - now, limit, domain]), [
      ['x.example.org-tls', dayMs, 'certificatesPerDomain', 'example.org'],
      ['y.example.org-tls', dayMs + hourMs, 'certificatesPerDomain', 'example.org'],
    ]);
  });

  it('grants again what lapsed', () => {
    const { granted } = allocate(prod, fifty, [wants('b/gw', ['x.example.org'])], now + dayMs);
    assert.equal(granted.length, 1);
  });

  it('counts a certificate for hosts of two domains for both', () => {
    const both = wants('b/gw', ['x.example.net', 'x.example.org']);
    assert.equal(allocate(prod, fifty, [both], now).waiting[0]?.domain, 'example.org');
    assert.equal(allocate(prod, [], [both], now).granted.length, 1);
  });

  it('grants the same names five times a week, and does not count them as new', () => {
    const again = Array.from({ length: 4 }, (_, index) => had('a/gw', ['www.example.org'], dayMs + index * hourMs));
    assert.equal(allocate(prod, [...fifty, ...again], [wants('a/gw', ['www.example.org'])], now).granted.length, 1);
    const fifth = [...again, had('a/gw', ['www.example.org'], hourMs)];
    const { waiting } = allocate(prod, fifth, [wants('a/gw', ['www.example.org'])], now);
    assert.deepEqual(waiting.map(({ limit, until }) => [limit, until - now]), [['duplicates', 7 * dayMs - (dayMs + 3 * hourMs)]]);
  });

  it('counts the same names once for their domain, however often they were had', () => {
    const again = Array.from({ length: 30 }, (_, index) => had('a/gw', ['www.example.org'], 6 * dayMs - index * hourMs));
    assert.equal(allocate({ certificatesPerDomain: prod.certificatesPerDomain }, [...fifty.slice(0, 48), ...again], [wants('b/gw', ['x.example.org'])], now).granted.length, 1);
  });

  it('counts renewals as duplicates, but not as new for their domain', () => {
    const renewals = hostsOf(50, 'example.org', 'r').map((host) => ({ ...had('a/gw', [host], hourMs * 30), renewal: true }));
    assert.equal(allocate(prod, renewals, [wants('a/gw', ['www.example.org'])], now).granted.length, 1);
    const many = Array.from({ length: 5 }, () => ({ ...had('a/gw', ['www.example.org'], dayMs), renewal: true }));
    assert.equal(allocate(prod, many, [wants('a/gw', ['www.example.org'])], now).waiting[0]?.limit, 'duplicates');
  });

  it('counts orders by gateway, since each has an account of its own', () => {
    const orders = Array.from({ length: 300 }, (_, index) => had('a/gw', [`www.d${index}.org`], hourMs));
    assert.deepEqual(allocate(prod, orders, [wants('a/gw', ['new.org'])], now).waiting.map(({ limit, until }) => [limit, until - now]), [['orders', 2 * hourMs]]);
    assert.equal(allocate(prod, orders, [wants('b/gw', ['new.org'])], now).granted.length, 1);
  });

  it('gives what is left to the gateway that has had least', () => {
    const spent = fifty.slice(0, 46);
    const wanted = [...hostsOf(20, 'example.org', 'a').map((host) => wants('a/gw', [host], now - dayMs)), ...hostsOf(3, 'example.org', 'b').map((host) => wants('b/gw', [host]))];
    const { granted, waiting } = allocate(prod, spent, wanted, now);
    assert.deepEqual(granted.map(({ gateway, certificate }) => `${gateway} ${certificate}`), ['b/gw b0.example.org-tls', 'b/gw b1.example.org-tls', 'b/gw b2.example.org-tls', 'a/gw a0.example.org-tls']);
    assert.equal(waiting.length, 19);
  });

  it('explains a wait', () => {
    const { waiting } = allocate(prod, fifty, [wants('b/gw', ['x.example.org']), wants('b/gw', ['y.example.org'])], now);
    assert.equal(
      explainWaits('letsencrypt-prod', waiting),
      'issuer letsencrypt-prod allows 50 new certificates for example.org in 7 days, and they are spent; the next is ordered at 2026-12-02T00:00:00Z; waiting: x.example.org-tls, y.example.org-tls. ' +
        'What helps: certMode dns01 needs one certificate where this needs one a host; or use another issuer, or serve fewer hosts',
    );
  });
});

describe('over time the budget', () => {
  const limits: RateLimits = {
    certificatesPerDomain: { count: 3, periodMs: 100 },
    duplicates: { count: 2, periodMs: 100 },
    orders: { count: 4, periodMs: 30 },
  };
  const host = fc.tuple(fc.constantFrom('example.org', 'example.net'), fc.integer({ min: 0, max: 8 })).map(([domain, index]) => `h${index}.${domain}`);
  const ask = fc.record({ gateway: fc.constantFrom('a/gw', 'b/gw', 'c/gw'), hosts: fc.uniqueArray(host, { minLength: 1, maxLength: 3 }), at: fc.integer({ min: 0, max: 120 }) });

  /** Everybody asks at their time and again whenever the earliest wait is over, until all is had. */
  const simulate = (asks: readonly { gateway: string; hosts: string[]; at: number }[]): { history: Issuance[]; rounds: number } => {
    const history: Issuance[] = [];
    let open: Wanted[] = [];
    const coming = asks.map(({ gateway, hosts, at }, index): Wanted => ({ ...wants(gateway, hosts, at), certificate: `c${index}` })).toSorted((a, b) => a.since - b.since);
    let time = 0;
    let rounds = 0;
    while (coming.length > 0 || open.length > 0) {
      rounds += 1;
      assert.ok(rounds < 500, 'nobody waits for ever');
      while (coming[0] && coming[0].since <= time) open.push(coming.shift()!);
      const { granted, waiting } = allocate(limits, history, open, time);
      assert.equal(granted.length + waiting.length, open.length);
      for (const { until } of waiting) assert.ok(until > time, 'whoever waits is told a time that is to come');
      for (const { since: _since, ...order } of granted) history.push({ ...order, at: time });
      open = waiting.map(({ wanted }) => wanted);
      time = Math.min(...waiting.map(({ until }) => until), ...(coming[0] ? [coming[0].since] : []));
    }
    return { history, rounds };
  };

  it('is never exceeded in any period, whatever is asked, and everybody gets theirs', () => {
    fc.assert(
      fc.property(fc.array(ask, { maxLength: 25 }), (asks) => {
        const { history } = simulate(asks);
        assert.equal(history.length, asks.length);
        const within = (times: number[], count: number, periodMs: number): void => times.forEach((at, index) => assert.ok(!(times[index - count]! > at - periodMs), `${times.join(' ')}: more than ${count} in ${periodMs}`));
        const seen = new Set<string>();
        const fresh = history.filter(({ set }) => !seen.has(set) && seen.add(set));
        for (const domain of ['example.org', 'example.net']) within(fresh.filter(({ domains }) => domains.includes(domain)).map(({ at }) => at), 3, 100);
        for (const set of seen) within(history.filter((entry) => entry.set === set).map(({ at }) => at), 2, 100);
        for (const gateway of ['a/gw', 'b/gw', 'c/gw']) within(history.filter((entry) => entry.gateway === gateway).map(({ at }) => at), 4, 30);
      }),
    );
  });

  it('does not depend on the order in which it is told of things', () => {
    fc.assert(
      fc.property(fc.array(ask, { maxLength: 12 }), fc.array(ask, { maxLength: 12 }), (before, asks) => {
        const history = before.map(({ gateway, hosts, at }) => ({ ...had(gateway, hosts, 0), at }));
        const wanted = asks.map(({ gateway, hosts, at }, index) => ({ ...wants(gateway, hosts, at), certificate: `c${index}` }));
        assert.deepEqual(allocate(limits, history.toReversed(), wanted.toReversed(), 120), allocate(limits, history, wanted, 120));
      }),
    );
  });

  it('never lets one gateway have two more than another that waits, where both want the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 10 }), (a, b) => {
        const wanted = [...hostsOf(a, 'example.org', 'a').map((name) => wants('a/gw', [name])), ...hostsOf(b, 'example.org', 'b').map((name) => wants('b/gw', [name]))];
        const { granted, waiting } = allocate({ certificatesPerDomain: { count: 5, periodMs: 100 } }, [], wanted, now);
        const [forA, forB] = ['a/gw', 'b/gw'].map((gateway) => granted.filter((order) => order.gateway === gateway).length) as [number, number];
        const waits = (gateway: string): boolean => waiting.some(({ wanted: order }) => order.gateway === gateway);
        if (waits('a/gw')) assert.ok(forB - forA <= 1);
        if (waits('b/gw')) assert.ok(forA - forB <= 1);
      }),
    );
  });
});
