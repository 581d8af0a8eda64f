/** POSTs that leave through a fixed proxy, and receivers that ask for a client certificate: a real proxy where there is one. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { readIdentity } from '../../../src/delivery/target/identity.ts';
import type { Proxy } from '../../../src/delivery/target/tunnel.ts';
import { createSender, type SenderOptions } from '../../../src/delivery/sending/send.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { freePorts } from '../../support/free-ports.ts';
import { listening } from '../../support/listening.ts';
import { hang, type Receiver, startReceiver } from '../../support/receiver.ts';
import { makeTestFolder } from '../../support/test-folder.ts';

const authority = makeAuthority();
const LONG_MS = 120_000;
const { path: folder } = await makeTestFolder();
const plain = await startReceiver();
const secure = await startReceiver({ tls: authority.issue(['localhost']) });

async function postVia(options: Partial<SenderOptions>, url: string) {
  const sender = createSender({ allowInsecure: true, timeoutMs: LONG_MS, tls: { ca: authority.ca }, ...options });
  const result = await sender.send({ url, body: Buffer.from('{}'), headers: ['Content-Type', 'application/json'] });
  await sender.close();
  return result;
}

/** A proxy that keeps what it is asked for, and leads every CONNECT to the port asked for on the loopback. */
async function startProxy(answer: (request: IncomingMessage) => number = () => 200) {
  const asked: IncomingMessage[] = [];
  const server = createServer((_request, response) => response.writeHead(400).end());
  const sockets = new Set<Socket>();
  server.on('connect', (request, client: Socket) => {
    asked.push(request);
    sockets.add(client.on('error', () => undefined));
    const code = answer(request);
    if (code !== 200) {
      client.end(`HTTP/1.1 ${code} No\r\n\r\n`);
      return;
    }
    const target = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    sockets.add(target.on('error', () => client.destroy()));
  });
  const port = await listening(server);
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { asked, proxy: via(port), close };
}

function via(port: number, rest: Partial<Proxy> = {}): Proxy {
  return { url: new URL(`http://127.0.0.1:${port}`), authorization: null, resolves: false, ...rest };
}

describe('through the proxy', () => {
  test('http and https targets are tunnels to the address that was judged, and the attempt names that address', async () => {
    const { asked, proxy, close } = await startProxy();
    const resolve = () => Promise.resolve(['127.0.0.1']);
    expect(await postVia({ proxy, resolve }, plain.url)).toMatchObject({ outcome: 'entregue', address: '127.0.0.1' });
    expect(await postVia({ proxy, resolve }, secure.url)).toMatchObject({ outcome: 'entregue', address: '127.0.0.1' });
    expect(asked.map(({ url }) => url)).toEqual([`127.0.0.1:${plain.port}`, `127.0.0.1:${secure.port}`]);
    await close();
  });

  test('a name that leads to a refused address never reaches the proxy', async () => {
    const { asked, proxy, close } = await startProxy();
    const resolve = () => Promise.resolve(['10.0.0.7']);
    const guarded = { proxy, resolve, allowInsecure: false };
    expect(await postVia(guarded, 'https://hooks.example.com/')).toMatchObject({ outcome: 'destino_recusado' });
    expect(await postVia(guarded, 'https://10.0.0.7/')).toMatchObject({ outcome: 'destino_recusado' });
    expect(await postVia({ ...guarded, proxy: { ...proxy, resolves: true } }, 'https://2130706433/')).toMatchObject({
      outcome: 'destino_recusado',
    });
    expect(asked).toEqual([]);
    await close();
  });

  test('a proxy that resolves is asked for the name, shown who asks, and nothing is looked up here', async () => {
    const { asked, proxy, close } = await startProxy();
    const resolve = () => Promise.reject(new Error('asked'));
    const options = { resolve, proxy: { ...proxy, resolves: true, authorization: 'Basic dTpw' } };
    expect(await postVia(options, secure.url)).toMatchObject({ outcome: 'entregue', address: null });
    expect(asked.map(({ url, headers }) => [url, headers['proxy-authorization']])).toEqual([
      [`localhost:${secure.port}`, 'Basic dTpw'],
    ]);
    await close();
  });

  test('the next address is tried when the proxy cannot reach one', async () => {
    const { asked, proxy, close } = await startProxy(({ url }) => (url?.startsWith('127.0.0.9') ? 502 : 200));
    const resolve = () => Promise.resolve(['127.0.0.9', '127.0.0.1']);
    expect(await postVia({ proxy, resolve }, plain.url.replace('127.0.0.1', 'localhost'))).toMatchObject({
      outcome: 'entregue',
      address: '127.0.0.1',
    });
    expect(asked).toHaveLength(2);
    await close();
  });

  test('a refusal, a proxy that is away and one that is silent are errors of the connection that name the proxy', async () => {
    const { proxy, close } = await startProxy(() => 407);
    expect(await postVia({ proxy }, plain.url)).toMatchObject({
      outcome: 'erro_conexao',
      error: 'PROXY_407: o proxy de saída não abriu a conexão',
    });
    await close();
    expect(await postVia({ proxy }, plain.url)).toMatchObject({
      outcome: 'erro_conexao',
      error: 'PROXY_ECONNREFUSED: o proxy de saída não foi alcançado',
    });
    const silent = await startReceiver();
    silent.answerWith(hang());
    expect(await postVia({ proxy: via(silent.port), timeoutMs: 200 }, plain.url)).toMatchObject({ statusCode: null });
  });

  const hasTinyproxy = (() => {
    try {
      execFileSync('tinyproxy', ['-v']);
      return true;
    } catch {
      return false;
    }
  })();
  test.skipIf(!hasTinyproxy)('tinyproxy, with a user and a password, carries both', async () => {
    const [port = 0] = await freePorts(1);
    const config = join(folder, 'tinyproxy.conf');
    await writeFile(
      config,
      `Port ${port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 20\nBasicAuth ana s3nha\nLogLevel Info\n`,
    );
    const tinyproxy = spawn('tinyproxy', ['-d', '-c', config], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    await new Promise<void>((resolve) =>
      tinyproxy.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('Accepting connections')) resolve();
      }),
    );
    const proxy = via(port, { authorization: `Basic ${Buffer.from('ana:s3nha').toString('base64')}`, resolves: true });
    expect(await postVia({ proxy }, secure.url)).toMatchObject({ outcome: 'entregue' });
    expect(await postVia({ proxy: { ...proxy, resolves: false } }, plain.url)).toMatchObject({ outcome: 'entregue' });
    expect(await postVia({ proxy: via(port) }, plain.url)).toMatchObject({
      error: expect.stringMatching(/^PROXY_40[17]: /) as string,
    });
    tinyproxy.kill();
    await once(tinyproxy, 'close');
  });
});

describe('a receiver that asks for a certificate', () => {
  const own = makeAuthority();
  const files = () => ({
    certFile: join(folder, 'client.crt'),
    keyFile: join(folder, 'client.key'),
    caFile: join(folder, 'ca.pem'),
  });
  const write = async ({ key, cert }: ReturnType<typeof own.issue>) => {
    await writeFile(`${files().certFile}.new`, cert);
    await writeFile(`${files().keyFile}.new`, key);
    await rename(`${files().certFile}.new`, files().certFile);
    await rename(`${files().keyFile}.new`, files().keyFile);
  };
  let asking: Receiver;
  beforeAll(async () => {
    await writeFile(files().caFile, authority.ca);
    asking = await startReceiver({ tls: { ...authority.issue(['localhost']), ca: own.ca, requestCert: true } });
  });

  test('gets it, the exchanged one after a look, and the one before when the files are broken', async () => {
    let nowMs = 0;
    const faults: unknown[] = [];
    await write(own.issue(['carteiro.example.com']));
    const identity = await readIdentity(
      files(),
      (error) => faults.push(error),
      () => nowMs,
    );
    const refused = { outcome: expect.stringMatching(/^erro_(tls|conexao)$/) as string, statusCode: null };
    expect(await postVia({}, asking.url)).toMatchObject(refused);
    expect(await postVia({ identity }, asking.url)).toMatchObject({ outcome: 'entregue' });

    await write(makeAuthority().issue(['carteiro.example.com']));
    expect(await postVia({ identity }, asking.url)).toMatchObject({ outcome: 'entregue' });
    nowMs += 10_000;
    expect(await postVia({ identity }, asking.url)).toMatchObject(refused);

    await write(own.issue(['carteiro.example.com']));
    nowMs += 10_000;
    expect(await postVia({ identity }, asking.url)).toMatchObject({ outcome: 'entregue' });
    await writeFile(files().certFile, (await readFile(files().certFile, 'utf8')).slice(0, 80));
    nowMs += 10_000;
    expect(faults).toEqual([]);
    expect(await postVia({ identity }, asking.url)).toMatchObject({ outcome: 'entregue' });
    expect(faults).toHaveLength(1);
  });

  test('files that do not belong together are refused when they are first read', async () => {
    await write({ cert: own.issue(['a']).cert, key: own.issue(['a']).key });
    await expect(readIdentity(files(), () => undefined)).rejects.toThrow(/key values mismatch/);
  });
});
