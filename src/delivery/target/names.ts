/**
 * The addresses of a name, from the hosts file, else from DNS, as written, without search domains.
 * Alternative: the system's resolver blocks one of libuv's four threads, for 10 s when a name's server is silent; a few such names stop all
 * resolving.
 * c-ares ends a list of servers at the first answer, even a server failure, and other names' times shorten its patience. So each look-up
 * uses one resolver per server: the next one after a failure, or beside a silent one.
 */
import { promises as dns } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

/** Empty when the name has no address; rejects with the DNS error. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface NamesOptions {
  /** `address:port`; default: the system's. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  /** Monotonic, in milliseconds. */
  readonly now?: () => number;
}

/** How long the hosts file and the list of servers are cached. */
const RENEW_MS = 5_000;
/** One server's tries: 30 s, as long as an attempt. */
const TIMEOUTS = { timeout: 2_000, tries: 5, maxTimeout: 8_000 };
/** After this silence of a server the next one is asked beside it. */
const SILENCE_MS = 1_500;
/** How often each server is asked while all fail, with a pause between. */
const ROUNDS = 3;
const REST_MS = 1_000;
/** How long addresses of one family wait for those of the other. */
const OTHER_KIND_MS = 1_000;
/** Any other code means that this server cannot tell. */
const ANSWERS: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

interface Known {
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  readonly servers: readonly string[];
  readonly sinceMs: number;
}

/** IPv4 addresses come first: they work also where IPv6 has no route. */
export function createResolver(options: NamesOptions = {}): Resolve {
  const { servers, hostsFile = '/etc/hosts', now = () => performance.now() } = options;
  let known: Known | null = null;
  const renewed = (): Known => {
    const nowMs = now();
    if (known !== null && nowMs - known.sinceMs < RENEW_MS) return known;
    const hosts = parseHosts(readHosts(hostsFile));
    return (known = { hosts, servers: servers ?? new dns.Resolver().getServers(), sinceMs: nowMs });
  };
  return async (hostname) => {
    const { hosts, servers: asked } = renewed();
    const name = hostname.toLowerCase().replace(/\.$/, '');
    return hosts.get(name) ?? (isLoopbackName(name) ? ['127.0.0.1', '::1'] : addressesOf(hostname, asked));
  };
}

/** RFC 6761, 6.3: no server is asked for these. */
function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}

type Kind = 'resolve4' | 'resolve6';

/** Asks each of `servers` for one family. The first definite answer wins; rejects with the last fault when there is none. */
function ask(hostname: string, kind: Kind, servers: readonly dns.Resolver[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  const order = Array.from({ length: ROUNDS }, () => servers).flat();
  let timer: NodeJS.Timeout | undefined;
  let next = 0;
  let open = 0;
  const drop = (): void => {
    clearTimeout(timer);
    next = order.length;
  };
  const askNext = (): void => {
    const server = order[next];
    clearTimeout(timer);
    if (server === undefined) return;
    next += 1;
    open += 1;
    timer = setTimeout(askNext, SILENCE_MS);
    server[kind](hostname).then(
      (addresses) => {
        drop();
        resolve(addresses);
      },
      (error: Error & { code?: string }) => {
        open -= 1;
        const isFinal = ANSWERS.has(error.code ?? '');
        if (isFinal) drop();
        if (isFinal || (next === order.length && open === 0)) return reject(error);
        if (next % servers.length > 0) return askNext();
        if (open > 0) return;
        clearTimeout(timer);
        timer = setTimeout(askNext, REST_MS);
      },
    );
  };
  askNext();
  return { answer: promise, drop };
}

function resolverOf(server: string): dns.Resolver {
  const resolver = new dns.Resolver(TIMEOUTS);
  resolver.setServers([server]);
  return resolver;
}

async function addressesOf(hostname: string, servers: readonly string[]): Promise<string[]> {
  const resolvers = servers.map(resolverOf);
  const questions = [ask(hostname, 'resolve4', resolvers), ask(hostname, 'resolve6', resolvers)];
  const found: string[][] = [];
  const answers = questions.map(({ answer }, kind) => answer.then((addresses) => (found[kind] = addresses)));
  const all = Promise.allSettled(answers);
  let timer: NodeJS.Timeout | undefined;
  const oneAndAWhile = Promise.any(answers).then(
    () => new Promise<void>((resolve) => (timer = setTimeout(resolve, OTHER_KIND_MS))),
    () => all,
  );
  await Promise.race([all, oneAndAWhile]);
  clearTimeout(timer);
  for (const { drop } of questions) drop();
  for (const resolver of resolvers) resolver.cancel();
  if (found.length > 0) return found.flat();
  const faults = (await all).flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
  // "No address of this kind" says less than any other fault.
  throw faults.find((fault) => (fault as { code?: string }).code !== 'ENODATA') ?? faults[0];
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
