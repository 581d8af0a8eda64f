import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { addressVerdict } from '../../../src/delivery/target/addresses.ts';

const strict = (address: string) => addressVerdict(address, { allowInsecure: false });
const sandbox = (address: string) => addressVerdict(address, { allowInsecure: true });

/** First and last refused address of every IPv4 range, and the neighbours outside it where those are public. */
const IPV4_EDGES: readonly (readonly [first: string, last: string, before: string | null, after: string | null])[] = [
  ['0.0.0.0', '0.255.255.255', null, '1.0.0.0'],
  ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
  ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
  ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0', '255.255.255.255', '223.255.255.255', null],
];

function hexGroups(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

/** Every form in which an IPv4 address hides in an IPv6 one; `judged` ones are allowed when what they carry is. */
const EMBEDDED: readonly (readonly [name: string, write: (ipv4: string) => string, judged: boolean])[] = [
  ['mapped', (ipv4) => `::ffff:${ipv4}`, true],
  ['mapped in hex', (ipv4) => `::ffff:${hexGroups(ipv4)}`, true],
  ['NAT64', (ipv4) => `64:ff9b::${ipv4}`, true],
  ['6to4', (ipv4) => `2002:${hexGroups(ipv4)}::1`, true],
  ['ISATAP', (ipv4) => `2a00:1450::5efe:${ipv4}`, true],
  ['ISATAP, universal', (ipv4) => `2a00:1450::200:5efe:${ipv4}`, true],
  ['compatible', (ipv4) => `::${ipv4}`, false],
  ['local NAT64', (ipv4) => `64:ff9b:1::${ipv4}`, false],
  ['translated', (ipv4) => `::ffff:0:${ipv4}`, false],
  ['Teredo', (ipv4) => `2001:0:${hexGroups(ipv4)}::1`, false],
];

describe('IPv4', () => {
  test.each(IPV4_EDGES)('%s to %s is refused and no more', (first, last, before, after) => {
    expect([first, last].map(strict)).toEqual(['refused', 'refused']);
    const neighbours = [before, after].filter((address) => address !== null);
    expect(neighbours.map(strict)).toEqual(neighbours.map(() => 'allowed'));
  });
});

describe('IPv6 forms that carry an IPv4 address', () => {
  test.each(EMBEDDED)('%s: a refused address stays refused', (_name, write) => {
    for (const [first, last] of IPV4_EDGES)
      expect([first, last].map((ip) => strict(write(ip)))).not.toContain('allowed');
  });

  test.each(EMBEDDED)('%s: a public address is judged by the form', (_name, write, judged) => {
    expect(strict(write('8.8.8.8'))).toBe(judged ? 'allowed' : 'refused');
  });
});

describe('IPv6', () => {
  test.each(['2001:4860:4860::8888', '2600::', '2001:200::', '2a00:1450:4001::1', '3ffe:ffff::1', '2620:4f:7fff::1'])(
    '%s is allowed',
    (address) => expect(strict(address)).toBe('allowed'),
  );

  test.each([
    '::',
    '::1',
    '1::',
    '100::1',
    '1fff:ffff::',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:1ff:ffff::',
    '2001:db8::1',
    '2620:4f:8000::1',
    '3fff::1',
    '3fff:fff::1',
    '4000::',
    '5f00::1',
    'fc00::1',
    'fdff::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    'ffff::1',
  ])('%s is refused', (address) => expect(strict(address)).toBe('refused'));
});

describe('what is no plain address', () => {
  test.each([
    '',
    'localhost',
    '1.2.3',
    '010.0.0.1',
    '0x7f.1',
    '8.8.8.8 ',
    '[::1]',
    'fe80::1%eth0',
    '2600::1%1',
    '8.8.8.8/32',
  ])('%j is refused', (text) => expect([strict(text), sandbox(text)]).toEqual(['refused', 'refused']));
});

describe('in a sandbox', () => {
  test.each(['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1', '::1', 'fd12::1', '::ffff:127.0.0.1'])(
    '%s is allowed',
    (address) => expect(sandbox(address)).toBe('allowed'),
  );

  test.each([
    '169.254.169.254',
    '100.100.100.200',
    '168.63.129.16',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fe80::1',
    '0.0.0.0',
    '::',
    '255.255.255.255',
    '224.0.0.1',
    'ff02::1',
    '192.0.2.1',
    '2001:db8::1',
    '::ffff:169.254.169.254',
    '64:ff9b::10.0.0.1',
    '2002:7f00:1::',
    '::127.0.0.1',
  ])('%s is still refused', (address) => expect(sandbox(address)).toBe('refused'));
});

/** mulberry32: the same addresses in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * What the independent library says of an address, by this rule: it is allowed when its range is `unicast`; where the
 * library only names the form (`rfc6052` NAT64, `6to4`), the IPv4 address that it carries decides.
 */
function independentVerdict(address: string): 'allowed' | 'refused' {
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  const bytes = parsed.toByteArray();
  const carried = (from: number) => independentVerdict(bytes.slice(from, from + 4).join('.'));
  if (range === 'rfc6052') return bytes[5] === 0 ? carried(12) : 'refused';
  if (range === '6to4' && carried(2) === 'refused') return 'refused';
  return range === 'unicast' || range === '6to4' ? 'allowed' : 'refused';
}

/** Where the library has no range and this service refuses. Everything else must agree exactly. */
function isKnownException(address: string): boolean {
  if (/^::\d+\.\d/.test(address)) return true; // IPv4-compatible, which the library reads as mapped
  const parsed = ipaddr.process(address);
  const bytes = parsed.toByteArray();
  if (parsed.kind() === 'ipv4') return parsed.toString() === '168.63.129.16';
  if (((bytes[0] ?? 0) & 0xe0) !== 0x20 && parsed.range() === 'unicast') return true; // outside 2000::/3
  if (parsed.range() === 'rfc6052') return isKnownException(bytes.slice(12).join('.'));
  const carriesIsatap = ((bytes[8] ?? 0) & 0xfc) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  if (carriesIsatap && isRefusedIpv4(bytes.slice(12).join('.'))) return true;
  return parsed.range() === '6to4' && isKnownException(bytes.slice(2, 6).join('.'));
}

function isRefusedIpv4(ipv4: string): boolean {
  return independentVerdict(ipv4) === 'refused' || isKnownException(ipv4);
}

describe('30,000 generated addresses', () => {
  const random = seeded(20_261_120);
  const below = (limit: number) => Math.floor(random() * limit);

  function toIpv4(value: number): string {
    return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
  }

  function ipv4Value(text: string): number {
    return text.split('.').reduce((value, octet) => value * 256 + Number(octet), 0);
  }

  function anyIpv4(): string {
    if (below(2) === 0) return toIpv4(below(2 ** 32));
    const [first = '', last = ''] = IPV4_EDGES[below(IPV4_EDGES.length)] ?? [];
    return toIpv4((ipv4Value(below(2) === 0 ? first : last) + below(9) - 4) >>> 0);
  }

  const PREFIXES =
    '0 64:ff9b 100 2000 2001 2001:1 2001:2 2001:1ff 2001:200 2001:db7 2001:db8 2001:db9 2002 2620:4f:8000 3ffe 3fff 3fff:fff 3fff:1000 4000 5f00 fbff fc00 fd00:ec2 fe80 fec0 feff ff00';
  const KNOWN = PREFIXES.split(' ');

  function anyIpv6(): string {
    const group = () => (below(3) === 0 ? '0' : below(65_536).toString(16));
    const head = below(3) === 0 ? [group()] : (KNOWN[below(KNOWN.length)] ?? '').split(':');
    return [...head, ...Array.from({ length: 8 - head.length }, group)].join(':');
  }

  function anyAddress(): string {
    const kind = below(4);
    if (kind === 0) return anyIpv4();
    if (kind === 1) return anyIpv6();
    return (EMBEDDED[below(EMBEDDED.length)]?.[1] ?? String)(anyIpv4());
  }

  test('the verdict agrees with ipaddr.js but for the exceptions stated above', () => {
    const disagreements: string[] = [];
    const counts = { allowed: 0, refused: 0, exceptions: 0 };
    for (let n = 0; n < 30_000; n += 1) {
      const address = anyAddress();
      const verdict = strict(address);
      counts[verdict] += 1;
      if (verdict === independentVerdict(address)) continue;
      if (verdict === 'refused' && isKnownException(address)) counts.exceptions += 1;
      else disagreements.push(`${address} ${verdict}`);
    }
    expect(disagreements).toEqual([]);
    expect(Math.min(counts.allowed, counts.refused, counts.exceptions)).toBeGreaterThan(100);
  });

  test('a sandbox refuses nothing that production allows', () => {
    const narrower: string[] = [];
    for (let n = 0; n < 20_000; n += 1) {
      const address = anyAddress();
      if (strict(address) === 'allowed' && sandbox(address) === 'refused') narrower.push(address);
    }
    expect(narrower).toEqual([]);
  });
});
