/** Where the embedded server listens: a port of the IPv4 loopback, or of IPv6's on a host without IPv4. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** Below the range of ephemeral ports, so a stopped server keeps its own. */
const FIRST_PORT = 20_000;
const PORTS = 12_000;
const PORT_ATTEMPTS = 200;

export interface Address {
  /** As written in a URL. */
  readonly host: string;
  readonly port: number;
}

const IPV4 = '127.0.0.1';
const IPV6 = '::1';

export function hostOf(listenAddress: string): string {
  return listenAddress === IPV6 ? `[${IPV6}]` : IPV4;
}

/** Throws when the host has no loopback. */
export async function findLoopback(): Promise<string> {
  const failures: Error[] = [];
  for (const address of [IPV4, IPV6]) {
    const failure = await tryListening(address, 0);
    if (failure === null) return address;
    failures.push(failure);
  }
  const reasons = failures.map(({ message }) => message).join('; ');
  throw new Error(`this host has no loopback address to listen on: ${reasons}`);
}

/** The previous port, so that URLs survive a restart; another when it is taken. */
export async function choosePort(folder: string, address: string): Promise<number> {
  const file = join(folder, 'port');
  const last = Number(await readFile(file, 'utf8').catch(() => '0'));
  if (last > 0 && (await tryListening(address, last)) === null) return last;
  let failure: Error | null = null;
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt += 1) {
    const port = FIRST_PORT + (randomBytes(2).readUInt16BE() % PORTS);
    failure = await tryListening(address, port);
    if (failure !== null) continue;
    await writeFile(file, String(port));
    return port;
  }
  throw new Error(`no free port on ${address} in ${PORT_ATTEMPTS} tries`, { cause: failure });
}

/** Null when it is free. */
async function tryListening(host: string, port: number): Promise<Error | null> {
  const { promise, resolve } = Promise.withResolvers<Error | null>();
  const probe = createServer();
  probe.once('error', resolve);
  probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(null)));
  return promise;
}
