/**
 * A TCP proxy between a process and its database. Its connections can be cut, or made silent: they swallow everything without
 * an end or a reset, as behind a router that died.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { endOf } from './ends.ts';

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket | null;
}

function addressOf({ port, hostname }: URL): { port: number; host: string } {
  return { port: Number(port || 5432), host: hostname };
}

export class TcpProxy {
  readonly #server: Server;
  #target: { readonly port: number; readonly host: string };
  readonly #pairs = new Set<Pair>();
  readonly #silent = new Set<Pair>();
  #isDark = false;
  #fatalWords: string | null = null;
  #lastWords: { readonly words: string; readonly isRead: boolean } | null = null;
  #refusal: Buffer | null = null;

  private constructor(target: URL) {
    this.#target = addressOf(target);
    this.#server = createServer((client) => this.#accept(client));
  }

  /** Starts a proxy to the server of `url`; {@link url} is the same database seen through it. */
  static async to(url: string): Promise<{ proxy: TcpProxy; url: string }> {
    const through = new URL(url);
    const proxy = new TcpProxy(through);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    through.host = `127.0.0.1:${(proxy.#server.address() as AddressInfo).port}`;
    return { proxy, url: through.href };
  }

  /** Leads new connections to the server of `url`, as a name that moves to a promoted standby; open connections are reset. */
  redirect(url: string): void {
    this.#target = addressOf(new URL(url));
    this.cut();
  }

  /** The number of open connections, without the silent ones. */
  get open(): number {
    return this.#pairs.size;
  }

  #accept(client: Socket): void {
    client.on('error', () => client.destroy());
    if (this.#isDark) {
      const pair = { client, upstream: null };
      client.resume();
      client.once('close', () => this.#silent.delete(pair));
      this.#silent.add(pair);
      return;
    }
    if (this.#refusal !== null) {
      client.resume().end(this.#refusal);
      this.#refusal = null;
      return;
    }
    client.on('data', (said) => {
      if (this.#fatalWords === null || !said.includes(this.#fatalWords)) return;
      this.#fatalWords = null;
      client.destroy();
    });
    const upstream = connect(this.#target);
    const pair = { client, upstream };
    this.#pairs.add(pair);
    client.on('data', (said) => {
      const last = this.#lastWords;
      if (last === null || !said.includes(last.words)) return;
      this.#lastWords = null;
      queueMicrotask(() => this.#silence(pair, last.isRead));
    });
    for (const socket of [client, upstream]) {
      socket.on('error', () => socket.destroy());
      socket.once('close', () => {
        if (this.#silent.has(pair)) return;
        this.#pairs.delete(pair);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.pipe(client);
  }

  /** Ends the connection on which a client next sends `words`, before the database has answered. */
  cutAt(words: string): void {
    this.#fatalWords = words;
  }

  /**
   * The connection on which a client next sends `words` passes them on, then goes silent. Unless `isRead`, later bytes are left
   * unread, as by a process that is stopped.
   */
  silenceAt(words: string, isRead = true): void {
    this.#lastWords = { words, isRead };
  }

  /** Answers the next connection as a server does that refuses it: one that is still starting, unless another code is given. */
  refuseNext(code = '57P03'): void {
    const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mrefused\0\0`);
    const head = Buffer.from('E\0\0\0\0');
    head.writeUInt32BE(4 + fields.length, 1);
    this.#refusal = Buffer.concat([head, fields]);
  }

  /** Resets every open connection. Returns how many there were. */
  cut(): number {
    const count = this.#pairs.size;
    for (const { client, upstream } of this.#pairs) {
      client.resetAndDestroy();
      upstream?.resetAndDestroy();
    }
    return count;
  }

  /** Makes all open connections silent both ways; new ones work unless `isDark`. Returns how many went silent. */
  blackHole(isDark = false): number {
    this.#isDark = isDark;
    const silenced = this.#pairs.size;
    for (const pair of this.#pairs) this.#silence(pair);
    return silenced;
  }

  #silence(pair: Pair, isRead = true): void {
    for (const socket of [pair.client, pair.upstream]) {
      socket?.unpipe();
      if (isRead) socket?.resume();
      else socket?.pause();
    }
    this.#silent.add(pair);
    this.#pairs.delete(pair);
  }

  /** New connections work again; silent ones are dropped, as when a router was replaced. */
  heal(): void {
    this.#isDark = false;
    for (const { client, upstream } of this.#silent) {
      client.destroy();
      upstream?.destroy();
    }
    this.#silent.clear();
  }

  readonly close = endOf(async () => {
    this.cut();
    this.heal();
    this.#server.close();
    await once(this.#server, 'close');
  });
}
