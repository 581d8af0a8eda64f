import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
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
afterAll(() => server.close());

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
