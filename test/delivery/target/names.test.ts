import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createResolver, type NamesOptions } from '../../../src/delivery/target/names.ts';
import { createSender } from '../../../src/delivery/sending/send.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { startReceiver } from '../../support/receiver.ts';
import { makeTestFolder } from '../../support/test-folder.ts';

const HOSTS = `# a comment
127.0.0.1 localhost
10.0.0.7\tPinned.example.com  alias.example.com # not.example.com
fd00::7 pinned.example.com
not-an-address broken.example.com
`;

const server = await startDnsServer({
  'both.example.com': ['2001:db8::1', '192.0.2.1', '192.0.2.2'],
  'six.example.com': ['2001:db8::6'],
  'none.example.com': [],
  'pinned.example.com': ['192.0.2.9'],
  'receiver.example.com': ['127.0.0.1'],
  '*.silent.example.com': 'silence',
});
const folder = await makeTestFolder();
const hostsFile = join(folder.path, 'hosts');
await writeFile(hostsFile, HOSTS);

const resolver = (options: NamesOptions = {}) => createResolver({ servers: [server.address], hostsFile, ...options });

test('a name has its addresses of both kinds, IPv4 first', async () => {
  expect(await resolver()('both.example.com')).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1']);
  expect(await resolver()('six.example.com')).toEqual(['2001:db8::6']);
});

test.each([
  ['none.example.com', 'ENODATA'],
  ['missing.example.com', 'ENOTFOUND'],
  [`${'a'.repeat(64)}.example.com`, 'EBADNAME'],
])('%s is refused with %s', async (name, code) => {
  await expect(resolver()(name)).rejects.toMatchObject({ code });
});

test.each([
  ['pinned.example.com', ['10.0.0.7', 'fd00::7']],
  ['ALIAS.example.com.', ['10.0.0.7']],
  ['localhost', ['127.0.0.1']],
])('%s is found in the hosts file, and no server is asked', async (name, addresses) => {
  const before = server.asked.length;
  expect(await resolver()(name)).toEqual(addresses);
  expect(server.asked).toHaveLength(before);
});

test('without a hosts file the names of the machine itself are still known', async () => {
  const none = resolver({ hostsFile: join(folder.path, 'none') });
  expect(await none('localhost')).toEqual(['127.0.0.1', '::1']);
  expect(await none('a.localhost.')).toEqual(['127.0.0.1', '::1']);
});

test('a changed hosts file is read within seconds', async () => {
  let nowMs = 0;
  const changing = join(folder.path, 'changing');
  const resolve = resolver({ hostsFile: changing, now: () => nowMs });
  await writeFile(changing, '192.0.2.50 moved.example.com');
  expect(await resolve('moved.example.com')).toEqual(['192.0.2.50']);
  await writeFile(changing, '192.0.2.51 moved.example.com');
  nowMs = 5_000;
  expect(await resolve('moved.example.com')).toEqual(['192.0.2.51']);
});

describe('a server that is of no use', () => {
  const known = { 'receiver.example.com': ['192.0.2.1', '2001:db8::1'] };

  test.each(['refused', 'server failure', 'silence'] as const)(
    'with %s is followed by the next one',
    async (answer) => {
      const [useless, useful] = await Promise.all([startDnsServer({ '*.example.com': answer }), startDnsServer(known)]);
      const resolve = resolver({ servers: [useless.address, useful.address] });
      expect(await resolve('receiver.example.com')).toEqual(['192.0.2.1', '2001:db8::1']);
    },
  );

  test('is asked again before the name counts as unknown', async () => {
    const zone: Record<string, readonly string[] | 'server failure'> = { 'receiver.example.com': 'server failure' };
    const failing = await startDnsServer(zone);
    const asked = resolver({ servers: [failing.address] })('receiver.example.com');
    await vi.waitFor(() => expect(failing.asked).toHaveLength(2), 300_000);
    zone['receiver.example.com'] = ['192.0.2.1'];
    expect(await asked).toEqual(['192.0.2.1']);
  });

  test('is told of when it never can tell', async () => {
    const failing = await startDnsServer({ '*.example.com': 'server failure' });
    await expect(resolver({ servers: [failing.address] })('a.example.com')).rejects.toMatchObject({
      code: 'ESERVFAIL',
    });
  });
});

test('a name that is answered late is found, also beside others that are answered at once', async () => {
  const slow = await startDnsServer({ 'fast.example.com': ['192.0.2.1'], 'late.example.com': 'late' });
  const resolve = resolver({ servers: [slow.address] });
  for (let count = 0; count < 20; count += 1) await resolve('fast.example.com');
  expect(await resolve('late.example.com')).toEqual(['127.0.0.1']);
});

test('addresses of one kind do not wait for an answer of the other that never comes', async () => {
  const half = await startDnsServer({ 'half.example.com': 'no AAAA' });
  expect(await resolver({ servers: [half.address] })('half.example.com')).toEqual(['127.0.0.1']);
});

test('an attempt whose name was not resolved in time says so', async () => {
  let nowMs = 0;
  const sender = createSender({ allowInsecure: true, resolve: resolver(), timeoutMs: 30_000, now: () => nowMs });
  const sent = sender.send({ url: 'http://a.silent.example.com/', body: Buffer.from('{}'), headers: [] });
  nowMs = 30_000;
  const error = 'TEMPO_ESGOTADO: o nome não foi resolvido em 30000 ms';
  expect(await sent).toMatchObject({ outcome: 'tempo_esgotado', error });
  await sender.close();
});

test('64 names whose server is silent hold up no other name', async () => {
  const receiver = await startReceiver();
  let nowMs = 0;
  const sender = createSender({ allowInsecure: true, resolve: resolver(), timeoutMs: 1_000, now: () => nowMs });
  const post = (host: string) =>
    sender.send({ url: `http://${host}:${receiver.port}/`, body: Buffer.from('{}'), headers: [] });
  let ended = 0;
  const silent = Array.from({ length: 64 }, (_, index) =>
    post(`h${index}.silent.example.com`).finally(() => (ended += 1)),
  );
  expect(await post('receiver.example.com')).toMatchObject({ outcome: 'entregue' });
  expect(ended).toBe(0);
  nowMs = 1_000;
  for (const result of await Promise.all(silent)) {
    expect(result).toMatchObject({ outcome: 'tempo_esgotado', address: null });
  }
  await sender.close();
});
