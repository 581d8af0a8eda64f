/** No TCP connection is opened to a refused address, however it is written and whatever a name resolves to. */
import { once } from 'node:events';
import { type AddressInfo, createServer, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConnectFault } from '../../../src/delivery/target/connect-fault.ts';
import { guardedConnector, type GuardOptions } from '../../../src/delivery/target/guard.ts';
import { createSender } from '../../../src/delivery/sending/send.ts';
import { type CountedConnects, countConnects } from '../../support/count-connects.ts';
import { type HostileTarget, REFUSED_LITERALS, REFUSED_NAMES } from '../../support/hostile/targets.ts';

const TARGETS = [...REFUSED_LITERALS, ...REFUSED_NAMES];
const PROTOCOLS = ['http:', 'https:'] as const;

/** What would be reached: every local address listens on this port. */
const trap = createServer((socket) => socket.destroy());
let accepted = 0;
let port = 0;
let connects: CountedConnects;

trap.on('connection', () => (accepted += 1)).listen(0);
await once(trap, 'listening');
({ port } = trap.address() as AddressInfo);
afterAll(() => trap.close());
beforeEach(async () => {
  connects = await countConnects();
  accepted = 0;
});
afterEach(() => connects.restore());

/** Answers each look-up of a name with the next of `answers`. */
function resolver(answers: readonly (readonly string[])[]): NonNullable<GuardOptions['resolve']> {
  let lookUps = 0;
  return async () => answers[Math.min((lookUps += 1), answers.length) - 1] ?? [];
}

const urlOf = (protocol: string, { host }: HostileTarget) => `${protocol}//${host}:${port}/hook`;

async function sendOnce(url: string, options: GuardOptions) {
  const sender = createSender(options);
  const result = await sender.send({ url, body: Buffer.from('{}'), headers: [] });
  await sender.close();
  return result;
}

/** Past the rules of the webhook: the guard alone. */
function guardOnce(hostname: string, protocol: string, options: GuardOptions): Promise<string> {
  return new Promise((resolve) => {
    guardedConnector(options)(
      { hostname, protocol, port: String(port) },
      (...[fault, socket]: Parameters<Parameters<ReturnType<typeof guardedConnector>>[1]>) => {
        socket?.destroy();
        resolve(fault instanceof ConnectFault ? fault.kind : 'connected');
      },
    );
  });
}

const hostnameOf = (url: string) => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');

describe.each(PROTOCOLS)('over %s', (protocol) => {
  test.each(TARGETS)('$host is refused without a connection', async (target) => {
    const resolve = resolver(target.answers ?? [['8.8.8.8']]);
    const url = urlOf(protocol, target);
    const hostname = hostnameOf(url);
    for (const allowInsecure of target.reach === 'never' ? [false, true] : [false]) {
      const rules = { allowInsecure, resolve };
      expect(await sendOnce(url, rules)).toMatchObject({ outcome: 'destino_recusado' });
      expect(await guardOnce(hostname, protocol, rules)).toBe('refused');
    }
    expect(connects.addresses).toEqual([]);
    expect(accepted).toBe(0);
  });

  test.each(['2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001', '127.1', '0', 'localhost'])(
    '%s, which the system’s resolver itself takes for an address, is refused by the guard',
    async (hostname) => {
      expect(await guardOnce(hostname, protocol, { allowInsecure: false })).toBe('refused');
      expect(connects.addresses).toEqual([]);
    },
  );

  test('a name that changes between look-ups is connected to where it is public and nowhere else', async () => {
    const answers = [['8.8.8.8'], ['127.0.0.1'], ['1.1.1.1', '::1'], ['2001:4860:4860::8888'], [], ['169.254.169.254']];
    const sender = createSender({ allowInsecure: false, resolve: resolver(answers) });
    const guarded = { allowInsecure: false, resolve: resolver(answers) };
    const seen: string[] = [];
    while (seen.length < answers.length) {
      if (protocol === 'http:') seen.push(await guardOnce('rebinding.example.com', protocol, guarded));
      else seen.push((await sender.send(rebinding(protocol))).outcome);
    }
    await sender.close();
    const [unreachable, refused, unresolved] =
      protocol === 'http:'
        ? ['connection', 'refused', 'unresolved']
        : ['erro_conexao', 'destino_recusado', 'erro_conexao'];
    expect(seen).toEqual([unreachable, refused, refused, unreachable, unresolved, refused]);
    expect(connects.addresses).toEqual(['8.8.8.8', '2001:4860:4860::8888']);
    expect(accepted).toBe(0);
  });

  test('a name that turns to metadata in a sandbox is connected to only before', async () => {
    const resolve = resolver([['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1', '169.254.169.254'], ['0.0.0.0']]);
    const sender = createSender({ allowInsecure: true, resolve });
    const outcomes: string[] = [];
    for (let n = 0; n < 4; n += 1) outcomes.push((await sender.send(rebinding(protocol))).outcome);
    await sender.close();
    expect(outcomes[0]).toMatch(/^erro_/);
    expect(outcomes.slice(1)).toEqual(['destino_recusado', 'destino_recusado', 'destino_recusado']);
    expect(new Set(connects.addresses)).toEqual(new Set(['127.0.0.1']));
  });

  test('a name of nothing is no delivery and no connection', async () => {
    for (const resolve of [resolver([[]]), () => Promise.reject(new Error('NXDOMAIN'))]) {
      const url = `${protocol}//nothing.example.com:${port}/`;
      expect(await sendOnce(url, { allowInsecure: true, resolve })).toMatchObject({ outcome: 'erro_conexao' });
    }
    expect(connects.addresses).toEqual([]);
  });

  test('a connect that is allowed is seen', async () => {
    await guardOnce('8.8.8.8', protocol, { allowInsecure: false });
    await guardOnce('127.0.0.1', 'http:', { allowInsecure: true });
    expect(connects.addresses).toEqual(['8.8.8.8', '127.0.0.1']);
  });
});

function rebinding(protocol: string) {
  return { url: `${protocol}//rebinding.example.com:${port}/`, body: Buffer.from('{}'), headers: [] };
}

describe('the corpus', () => {
  test('has at least 60 URLs, each of a writing of its own', () => {
    const hosts = TARGETS.map(({ host }) => host);
    expect(new Set(hosts).size).toBe(hosts.length);
    expect(hosts.length).toBeGreaterThanOrEqual(60);
  });

  /** Azure's host agent, and ranges outside 2000::/3 and IPv4-compatible and ISATAP addresses. */
  const UNKNOWN_TO_THE_LIBRARY = /^(168\.63\.129\.16|4000::1|::a9fe:a9fe|::7f00:1|2a00:1450::(200:)?5efe:7f00:1)$/;

  test('has literals that are addresses, none of them public to an independent library', () => {
    const hostnames = REFUSED_LITERALS.map((target) => hostnameOf(urlOf('http:', target)));
    expect(hostnames.filter((hostname) => isIP(hostname) === 0)).toEqual([]);
    const known = hostnames.filter((hostname) => !UNKNOWN_TO_THE_LIBRARY.test(hostname));
    expect(known.filter((hostname) => ipaddr.process(hostname).range() === 'unicast')).toEqual([]);
    expect(hostnames.length - known.length).toBe(6);
  });
});
