/**
 * The addresses of a name: from the hosts file, else from DNS.
 *
 * Why not the system's resolver: it waits on one of libuv's four threads, for 10 s when the name's server is silent.
 * Sixteen such names (one partner may register fifty) kept every other name from being resolved, and each delivery that
 * needed a new connection failed at its deadline. This resolver waits on no thread: beside 500 silent names another
 * name takes 1 ms.
 * Names are asked for as written, without search domains.
 */
import { promises as dns } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

/** All addresses of a name, or none when it has none; rejects with the DNS error. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface NamesOptions {
  /** `address:port` of DNS servers; the system's unless given. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/** How long the hosts file and the list of servers are remembered. */
const RENEW_MS = 5_000;
/** With a silent server all tries together take 5 to 12 s. */
const TIMEOUTS = { timeout: 1_500, tries: 4, maxTimeout: 4_000 };

interface Known {
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  readonly resolver: dns.Resolver;
  readonly sinceMs: number;
}

/** Makes a resolver; IPv4 addresses come first, because at least where there is no route to IPv6 these work. */
export function createResolver(options: NamesOptions = {}): Resolve {
  const { servers, hostsFile = '/etc/hosts', now = () => performance.now() } = options;
  let known: Known | null = null;
  const renewed = (): Known => {
    const nowMs = now();
    if (known !== null && nowMs - known.sinceMs < RENEW_MS) return known;
    const resolver = new dns.Resolver(TIMEOUTS);
    if (servers !== undefined) resolver.setServers(servers);
    return (known = { hosts: parseHosts(readHosts(hostsFile)), resolver, sinceMs: nowMs });
  };
  return async (hostname) => {
    const { hosts, resolver } = renewed();
    const name = hostname.toLowerCase().replace(/\.$/, '');
    return hosts.get(name) ?? (isLoopbackName(name) ? ['127.0.0.1', '::1'] : ask(resolver, hostname));
  };
}

/** Names for which no server is asked (RFC 6761, 6.3). */
function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

async function ask(resolver: dns.Resolver, hostname: string): Promise<string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const faults = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [answer.reason as { code?: string }] : [],
  );
  if (found.length > 0 || faults.length === 0) return found;
  // "No address of this kind" says less than any other fault.
  throw faults.find(({ code }) => code !== 'ENODATA') ?? faults[0];
}

function readHosts(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), address]);
    }
  }
  return hosts;
}
