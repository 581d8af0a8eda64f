/**
 * Hosts that no delivery may reach, in every spelling that a URL parser, a resolver or the system still accepts. Each is tried
 * in http and in https.
 */

export interface HostileTarget {
  /** As in a URL. */
  readonly host: string;
  /** Who may be reached there: nobody, or a sandbox only. */
  readonly reach: 'never' | 'internal';
  /** The name's addresses at each look-up; the last entry repeats. */
  readonly answers?: readonly (readonly string[])[];
}

/** Literal addresses by what they are; a sandbox reaches the `internal` ones in their plain forms. */
const LITERALS: readonly (readonly [what: string, reach: HostileTarget['reach'], hosts: string])[] = [
  ['loopback', 'internal', '127.0.0.1 127.0.0.2 127.255.255.255 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1]'],
  ['loopback, trailing dot', 'internal', '127.0.0.1. 127.1. 0x7f.1.'],
  ['loopback, short', 'internal', '127.1 127.0.1 127.65535 127.16777215'],
  ['loopback, decimal', 'internal', '2130706433 2147483647'],
  ['loopback, octal', 'internal', '017700000001 0177.0.0.1 0177.1 0000177.00.000.0001'],
  ['loopback, hex', 'internal', '0x7f000001 0X7F000001 0x7f.0.0.1 0x7f.1 127.0x1'],
  [
    'loopback, full-width',
    'internal',
    '１２７．０．０．１ １２７。０。０。１ 127｡0｡0｡1 ①②⑦.0.0.1 ２１３０７０６４３３ ０ｘ７ｆ.１',
  ],
  ['loopback, escaped', 'internal', '%31%32%37.0.0.1 127%2e0%2e0%2e1 0%78%37f.1'],
  ['loopback, long IPv6', 'internal', '[0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0.0.0.1]'],
  ['loopback, long mapped', 'internal', '[0:0:0:0:0:ffff:127.0.0.1] [::FFFF:7F00:0001]'],
  ['loopback, NAT64', 'never', '[64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::127.0.0.1]'],
  ['loopback, 6to4', 'never', '[2002:7f00:1::] [2002:7f00:1::1]'],
  ['loopback, Teredo', 'never', '[2001:0:7f00:1::] [2001:0:4136:e378:8000:63bf:80ff:fffe] [2001::1]'],
  ['loopback, ISATAP', 'never', '[2a00:1450::5efe:127.0.0.1] [2a00:1450::200:5efe:7f00:1]'],
  ['loopback, compatible', 'never', '[::127.0.0.1] [::ffff:0:127.0.0.1]'],
  ['this network', 'never', '0.0.0.0 0 0.0.0.1 0.255.255.255 0x0 00 [::] [0:0:0:0:0:0:0:0] [::ffff:0.0.0.0]'],
  ['private', 'internal', '10.0.0.1 10.255.255.255 167772161 0xa000001 012.0.0.1 10.1 [::ffff:10.0.0.1]'],
  ['private', 'internal', '172.16.0.1 172.31.255.255 2886729729 172.16.1 [::ffff:ac10:1]'],
  ['private', 'internal', '192.168.0.1 192.168.257 3232235521 0300.0250.0.1 [::ffff:c0a8:1]'],
  ['private, carried', 'never', '[64:ff9b::10.0.0.1] [64:ff9b::c0a8:1] [2002:a00:1::] [2002:c0a8:1::1]'],
  ['unique local', 'internal', '[fc00::1] [fd00::1] [fdff:ffff::1] [FD12:3456:789A::1]'],
  ['CGNAT', 'internal', '100.64.0.1 100.127.255.255 1681915905 0x64400001 [::ffff:100.64.0.1]'],
  ['CGNAT, carried', 'never', '[64:ff9b::100.64.0.1] [2002:6440:1::]'],
  ['link-local', 'never', '169.254.0.1 169.254.255.255 [fe80::1] [febf::1] [::ffff:169.254.0.1] [fec0::1]'],
  ['metadata', 'never', '169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 169.254.169.254.'],
  ['metadata, full-width', 'never', '１６９．２５４．１６９．２５４'],
  ['metadata, carried', 'never', '[::ffff:169.254.169.254] [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::] [::a9fe:a9fe]'],
  ['metadata of other clouds', 'never', '100.100.100.200 168.63.129.16 192.0.0.192 [fd00:ec2::254] [fd20:ce::254]'],
  ['benchmark', 'never', '198.18.0.1 198.19.255.255 3323068417 [2001:2::1] [::ffff:198.18.0.1]'],
  ['documentation', 'never', '192.0.2.1 198.51.100.1 203.0.113.1 [2001:db8::1] [3fff::1] [64:ff9b::192.0.2.1]'],
  ['multicast', 'never', '224.0.0.1 239.255.255.255 3758096385 [ff02::1] [ff0e::1] [::ffff:224.0.0.1]'],
  ['broadcast and reserved', 'never', '255.255.255.255 240.0.0.1 4294967295 0xffffffff [4000::1] [100::1]'],
  ['of protocols', 'never', '192.0.0.1 192.88.99.1 192.31.196.1 192.52.193.1 192.175.48.1 [2620:4f:8000::1]'],
];

const NAMES = [
  'localhost LOCALHOST localhost. a.localhost printer.local printer.LOCAL. metadata.google.internal local internal',
  'receiver receiver. ｌｏｃａｌｈｏｓｔ %6cocalhost ⓛocalhost.',
];

/** Names that a webhook accepts, and their addresses. */
const RESOLVED: readonly (readonly [host: string, reach: HostileTarget['reach'], addresses: string])[] = [
  ['to-loopback.example.com', 'internal', '127.0.0.1'],
  ['to-loopback-6.example.com', 'internal', '::1'],
  ['to-private.example.com', 'internal', '10.0.0.1'],
  ['to-cgnat.example.com', 'internal', '100.64.0.1'],
  ['to-unique-local.example.com', 'internal', 'fd00::1'],
  ['to-metadata.example.com', 'never', '169.254.169.254'],
  ['to-metadata-6.example.com', 'never', 'fd00:ec2::254'],
  ['to-mapped.example.com', 'never', '::ffff:169.254.169.254'],
  ['to-nat64.example.com', 'never', '64:ff9b::a9fe:a9fe'],
  ['to-6to4.example.com', 'never', '2002:7f00:1::'],
  ['to-teredo.example.com', 'never', '2001:0:7f00:1::'],
  ['to-this-network.example.com', 'never', '0.0.0.0'],
  ['to-unspecified.example.com', 'never', '::'],
  ['to-multicast.example.com', 'never', '224.0.0.1'],
  ['to-broadcast.example.com', 'never', '255.255.255.255'],
  ['to-benchmark.example.com', 'never', '198.18.0.1'],
  ['to-documentation.example.com', 'never', '192.0.2.1'],
  ['to-zone.example.com', 'never', 'fe80::1%lo'],
  ['to-no-address.example.com', 'never', 'localhost'],
  ['to-octal.example.com', 'never', '0177.0.0.1'],
  ['mixed-last.example.com', 'never', '8.8.8.8 1.1.1.1 169.254.169.254'],
  ['mixed-first.example.com', 'never', '169.254.169.254 8.8.8.8'],
  ['mixed-families.example.com', 'internal', '2001:4860:4860::8888 8.8.8.8 ::1'],
  ['127.0.0.1.example.com', 'internal', '127.0.0.1'],
  ['xn--bcher-kva.example', 'internal', '192.168.0.1'],
];

export const REFUSED_LITERALS: readonly HostileTarget[] = LITERALS.flatMap(([, reach, hosts]) =>
  hosts.split(' ').map((host) => ({ host, reach })),
);

export const REFUSED_NAMES: readonly HostileTarget[] = [
  ...NAMES.flatMap((names) => names.split(' ')).map((host) => ({
    host,
    reach: 'internal' as const,
    answers: [['127.0.0.1', '::1']],
  })),
  ...RESOLVED.map(([host, reach, addresses]) => ({ host, reach, answers: [addresses.split(' ')] })),
];
