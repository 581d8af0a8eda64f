/**
 * Which addresses a delivery may be sent to. Pure, and one table, used for literal addresses when a webhook changes and by the guard for
 * every resolved address.
 */
import { isIPv4, isIPv6 } from 'node:net';

export interface TargetRules {
  /** Only in a sandbox: also allows `http:`, local names, loopback and private addresses. */
  readonly allowInsecure: boolean;
}

/** Reachable from everywhere, only from a sandbox, or not at all. */
type Reach = 'public' | 'internal' | 'never';

/**
 * The longest matching prefix decides. An IPv4 range includes its IPv4-mapped form; every transition form in {@link EMBEDDINGS} is judged
 * by the IPv4 address it carries.
 */
const RANGES: readonly (readonly [cidr: string, reach: Reach])[] = [
  ['0.0.0.0/0', 'public'],
  ['0.0.0.0/8', 'never'], // "this network"
  ['10.0.0.0/8', 'internal'],
  ['100.64.0.0/10', 'internal'], // carrier-grade NAT
  ['100.100.100.200/32', 'never'], // Alibaba metadata
  ['127.0.0.0/8', 'internal'],
  ['168.63.129.16/32', 'never'], // Azure's host agent
  ['169.254.0.0/16', 'never'], // link-local, metadata
  ['172.16.0.0/12', 'internal'],
  ['192.0.0.0/24', 'never'], // IETF protocol assignments
  ['192.0.2.0/24', 'never'], // documentation
  ['192.31.196.0/24', 'never'], // AS112
  ['192.52.193.0/24', 'never'], // AMT relays
  ['192.88.99.0/24', 'never'], // 6to4 relay anycast
  ['192.168.0.0/16', 'internal'],
  ['192.175.48.0/24', 'never'], // AS112
  ['198.18.0.0/15', 'never'], // benchmarks
  ['198.51.100.0/24', 'never'], // documentation
  ['203.0.113.0/24', 'never'], // documentation
  ['224.0.0.0/4', 'never'], // multicast
  ['240.0.0.0/4', 'never'], // reserved, broadcast
  ['::/0', 'never'], // all that is not global unicast
  ['::1/128', 'internal'],
  ['2000::/3', 'public'],
  ['2001::/23', 'never'], // IETF protocol assignments: Teredo, benchmarks, ORCHID, AS112
  ['2001:db8::/32', 'never'], // documentation
  ['2620:4f:8000::/48', 'never'], // AS112
  ['3fff::/20', 'never'], // documentation
  ['64:ff9b::/96', 'public'], // NAT64, judged by what it carries
  ['fc00::/7', 'internal'], // unique local
  ['fd00:ec2::/32', 'never'], // AWS metadata
  ['fd20:ce::/32', 'never'], // Google metadata
];

const MAPPED = 0xffffn << 32n;
const LOW_32 = 0xffff_ffffn;

function ipv4Bits(address: string): bigint {
  return address.split('.').reduce((bits, octet) => (bits << 8n) | BigInt(octet), 0n);
}

function ipv6Groups(part: string): bigint[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [BigInt(`0x${group}`)];
    const embedded = ipv4Bits(group);
    return [embedded >> 16n, embedded & 0xffffn];
  });
}

/** The 128 bits of an address in text, IPv4 in its mapped form; null for anything else, including zone ids. */
function addressBits(address: string): bigint | null {
  if (isIPv4(address)) return MAPPED | ipv4Bits(address);
  if (!isIPv6(address) || address.includes('%')) return null;
  const [head = '', tail = ''] = address.split('::');
  const left = ipv6Groups(head);
  const right = ipv6Groups(tail);
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0n);
  return [...left, ...zeros, ...right].reduce((bits, group) => (bits << 16n) | group, 0n);
}

function parseRange([cidr, reach]: readonly [string, Reach]) {
  const [base = '', length = ''] = cidr.split('/');
  const bits = addressBits(base);
  if (bits === null) throw new Error(`not a range: ${cidr}`);
  const shift = BigInt((isIPv4(base) ? 32 : 128) - Number(length));
  return { prefix: bits >> shift, shift, reach };
}

const LONGEST_FIRST = RANGES.map(parseRange).sort((a, b) => Number(a.shift - b.shift));

function reachOf(bits: bigint): Reach {
  return LONGEST_FIRST.find(({ prefix, shift }) => bits >> shift === prefix)?.reach ?? 'never';
}

interface Embedding {
  /** True when `bits` has this form; `shift` is then where the IPv4 address ends. */
  readonly holds: (bits: bigint) => boolean;
  readonly shift: bigint;
}

/** Transition forms that end at an IPv4 address; not even a sandbox may reach an internal one through them. */
const EMBEDDINGS: readonly Embedding[] = [
  { holds: (bits) => bits >> 32n === 0x64_ff9bn << 64n, shift: 0n }, // NAT64
  { holds: (bits) => bits >> 112n === 0x2002n, shift: 80n }, // 6to4
  { holds: (bits) => ((bits >> 32n) & 0xfcff_ffffn) === 0x5efen, shift: 0n }, // ISATAP
];

/**
 * Whether a delivery may be sent to this IPv4 or IPv6 address, given in text. Anything else, and any zone id, is refused. `allowInsecure`
 * allows loopback, private, CGNAT and unique local addresses and their IPv4-mapped forms; link-local, metadata, multicast, reserved and
 * documentation ranges are never allowed.
 */
export function addressVerdict(address: string, { allowInsecure }: TargetRules): 'allowed' | 'refused' {
  const bits = addressBits(address);
  if (bits === null) return 'refused';
  for (const { holds, shift } of EMBEDDINGS) {
    if (holds(bits) && reachOf(MAPPED | ((bits >> shift) & LOW_32)) !== 'public') return 'refused';
  }
  const reach = reachOf(bits);
  return reach === 'public' || (reach === 'internal' && allowInsecure) ? 'allowed' : 'refused';
}
