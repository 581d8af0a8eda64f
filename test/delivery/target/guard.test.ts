import { createServer, Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { ConnectFault } from '../../../src/delivery/target/connect-fault.ts';
import { guardedConnector, type GuardOptions } from '../../../src/delivery/target/guard.ts';
import { countConnects } from '../../support/count-connects.ts';
import { freePorts } from '../../support/free-ports.ts';
import { listening } from '../../support/listening.ts';

let accepted = 0;
const server = createServer((socket) => {
  accepted += 1;
  socket.on('error', () => undefined).resume();
});
const port = await listening(server);

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  accepted = 0;
});

/** Connects through the guard; answers the socket or the fault. */
function connect(options: GuardOptions, hostname: string, protocol = 'http:'): Promise<Socket | ConnectFault> {
  return new Promise((resolve) => {
    guardedConnector(options)(
      { hostname, protocol, port: String(port) },
      (...[fault, socket]: Parameters<Parameters<ReturnType<typeof guardedConnector>>[1]>) => {
        if (socket !== null) sockets.push(socket);
        resolve(socket ?? (fault as ConnectFault));
      },
    );
  });
}

/** A resolver that answers each call with the next list, and counts its calls. */
function scripted(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const resolve = async (hostname: string) => answers[Math.min(asked.push(hostname), answers.length) - 1] ?? [];
  return { asked, resolve };
}

/** How many connections the server has accepted; a probe of our own, opened last, is accepted last. */
async function acceptedByGuard(): Promise<number> {
  const probe = await connect({ allowInsecure: true }, '127.0.0.1');
  if (probe instanceof ConnectFault) throw probe;
  const ended = new Promise((resolve) => probe.once('close', resolve));
  probe.end();
  await ended;
  return accepted - 1;
}

test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254', '64:ff9b::7f00:1', 'fe80::1%lo'])(
  'the literal address %s is refused without a connection',
  async (literal) => {
    const { asked, resolve } = scripted(['127.0.0.1']);
    expect(await connect({ allowInsecure: false, resolve }, literal)).toMatchObject({ kind: 'refused' });
    expect(asked).toEqual([]);
    expect(await acceptedByGuard()).toBe(0);
  },
);

test.each([['http:'], ['https:']])(
  'over %s a name that resolves to a private address opens no connection',
  async (protocol) => {
    const { resolve } = scripted(['127.0.0.1']);
    const fault = await connect({ allowInsecure: false, resolve }, 'hooks.example.com', protocol);
    expect(fault).toMatchObject({ kind: 'refused' });
    expect(await acceptedByGuard()).toBe(0);
  },
);

test('one refused address among allowed ones refuses the whole name', async () => {
  for (const answer of [
    ['127.0.0.1', '169.254.169.254'],
    ['169.254.169.254', '127.0.0.1'],
    ['127.0.0.1', '::'],
  ]) {
    const { resolve } = scripted(answer);
    expect(await connect({ allowInsecure: true, resolve }, 'mixed.example.com')).toMatchObject({ kind: 'refused' });
  }
  expect(await acceptedByGuard()).toBe(0);
});

test('a name is looked up once and the connection pinned to that answer, though the next answer differs', async () => {
  const { asked, resolve } = scripted(['127.0.0.1'], ['169.254.169.254']);
  const options = { allowInsecure: true, resolve };
  const socket = await connect(options, 'rebinding.example.com');
  expect(socket).toMatchObject({ remoteAddress: '127.0.0.1' });
  expect(asked).toEqual(['rebinding.example.com']);

  expect(await connect(options, 'rebinding.example.com')).toMatchObject({ kind: 'refused' });
  expect(asked).toHaveLength(2);
  expect(await acceptedByGuard()).toBe(1);
});

test('without the guard the same name and answer do reach the server', async () => {
  const { resolve } = scripted(['127.0.0.1']);
  const socket = await connect({ allowInsecure: true, resolve }, 'hooks.example.com');
  expect(socket).not.toBeInstanceOf(ConnectFault);
  expect(await acceptedByGuard()).toBe(1);
});

test('an address at the other end that nobody vetted is refused once connected', async () => {
  // `remoteAddress` itself cannot be redefined; it reads this.
  const prototype = Socket.prototype as unknown as { _getpeername: () => { address: string } };
  const peer = vi.spyOn(prototype, '_getpeername').mockReturnValue({ address: '169.254.169.254' });
  const fault = await connect({ allowInsecure: true }, '127.0.0.1');
  peer.mockRestore();
  expect(fault).toMatchObject({ kind: 'refused' });
});

test.each([
  ['http:', 'connection'],
  ['https:', 'tls'],
])(
  'over %s a connection reset as soon as it was made is no refused target, but a fault of the %s',
  async (protocol, kind) => {
    const prototype = Socket.prototype as unknown as { _getpeername: () => { address?: string } };
    const peer = vi.spyOn(prototype, '_getpeername').mockReturnValue({});
    const fault = await connect({ allowInsecure: true }, '127.0.0.1', protocol);
    peer.mockRestore();
    expect(fault).toMatchObject({ kind, address: null });
  },
);

test('every vetted address is tried before the connection fails', async () => {
  // Nobody listens on the first.
  const { resolve } = scripted(['127.0.0.2', '127.0.0.1']);
  const socket = await connect({ allowInsecure: true, resolve }, 'two.example.com');
  expect(socket).toMatchObject({ remoteAddress: '127.0.0.1' });
});

test('an answer that is no address is refused', async () => {
  const { resolve } = scripted(['localhost']);
  expect(await connect({ allowInsecure: true, resolve }, 'odd.example.com')).toMatchObject({ kind: 'refused' });
});

test('a name without addresses, and a failed look-up, are faults of resolution', async () => {
  const { resolve } = scripted([]);
  expect(await connect({ allowInsecure: true, resolve }, 'empty.example.com')).toMatchObject({ kind: 'unresolved' });
  const failing = () => Promise.reject(Object.assign(new Error('no'), { code: 'EAI_AGAIN' }));
  expect(await connect({ allowInsecure: true, resolve: failing }, 'down.example.com')).toMatchObject({
    kind: 'unresolved',
    reason: 'EAI_AGAIN',
  });
});

test('look-ups of one name that are open together share one', async () => {
  const { asked, resolve } = scripted(['169.254.169.254']);
  const guarded = guardedConnector({ allowInsecure: true, resolve });
  const target = { hostname: 'busy.example.com', protocol: 'http:', port: String(port) };
  const open = () => new Promise((done) => guarded(target, (...[fault]) => done(fault)));
  await Promise.all([open(), open(), open()]);
  expect(asked).toHaveLength(1);
  await open();
  expect(asked).toHaveLength(2);
});

test('a connection given up during the look-up is never opened', async () => {
  let answer: (addresses: string[]) => void = () => undefined;
  const resolve = () => new Promise<string[]>((done) => (answer = done));
  const guarded = guardedConnector({ allowInsecure: true, resolve });
  const outcome = await new Promise((done) => {
    const giveUp = guarded({ hostname: 'slow.example.com', protocol: 'http:', port: String(port) }, (...[fault]) =>
      done(fault),
    );
    giveUp();
    answer(['127.0.0.1']);
  });
  expect(outcome).toMatchObject({ kind: 'connection', reason: 'ABANDONADA' });
  expect(await acceptedByGuard()).toBe(0);
});

test.each([
  ['http:', ['8.8.8.8']],
  ['https:', ['8.8.8.8']],
  ['https:', ['2001:4860:4860::8888']],
  ['https:', ['8.8.8.8', '2001:4860:4860::8888']],
])('over %s a name at %j without a route to it is a fault of the connection', async (protocol, addresses) => {
  // The system says so within the call: an IPv6 address on a machine without IPv6, say.
  const connects = await countConnects();
  const resolve = async () => addresses;
  const fault = await connect({ allowInsecure: false, resolve }, 'unreachable.example.com', protocol);
  connects.restore();
  expect(fault).toMatchObject({ kind: 'connection', reason: 'ENETUNREACH' });
  expect(connects.addresses).toEqual(addresses);
});

test('a poller that is busy while it connects does not go on to an address without a route', async () => {
  const connects = await countConnects();
  const resolve = async () => ['127.0.0.1', '2001:4860:4860::8888'];
  // From here on Node looks at its timers before it asks the system what became of a connect.
  await new Promise(setImmediate);
  const connecting = connect({ allowInsecure: true, resolve }, 'dual.example.com');
  const beBusy = async () => {
    while (connects.addresses.length === 0) await new Promise((resume) => process.nextTick(resume));
    for (const until = performance.now() + 500; performance.now() < until;);
  };
  await beBusy();
  const socket = await connecting;
  connects.restore();
  expect(socket).toBeInstanceOf(Socket);
  expect(connects.addresses).toEqual(['127.0.0.1']);
});

test('a port where nobody listens is a fault of the connection', async () => {
  const [freePort] = await freePorts(1);
  const fault = await new Promise((done) => {
    const target = { hostname: '127.0.0.1', protocol: 'http:', port: String(freePort) };
    guardedConnector({ allowInsecure: true })(target, (...[fault]) => done(fault));
  });
  expect(fault).toMatchObject({ kind: 'connection', reason: 'ECONNREFUSED', address: null });
});
