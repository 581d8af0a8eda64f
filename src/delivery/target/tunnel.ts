/**
 * A connection to a receiver through the lender's proxy: CONNECT (RFC 9110, 9.3.6), also for `http:` targets, so that the proxy never sees
 * a body.
 * The guard's rule holds: the name is resolved and judged here, and the proxy gets the judged *address*. Only a proxy that is configured to
 * resolve names gets the name, and then vouches for where it leads.
 */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIPv6, type Socket } from 'node:net';
import { ConnectFault } from './connect-fault.ts';

export interface Proxy {
  readonly url: URL;
  /** The value of `Proxy-Authorization`; null: not sent. */
  readonly authorization: string | null;
  readonly resolves: boolean;
}

/** `host` is the one of `hosts` that was reached. */
type TunnelCallback = (
  ...result: [fault: null, socket: Socket, host: string] | [fault: ConnectFault, socket: null, host: null]
) => void;

function proxyFault(reason: string, message: string): ConnectFault {
  return new ConnectFault('connection', reason, message);
}

/** Opens a tunnel to the first of `hosts` that the proxy reaches. Returns how to give up. */
export function openTunnel(proxy: Proxy, hosts: readonly string[], port: number, done: TunnelCallback): () => void {
  const [host = '', ...others] = hosts;
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const request = (proxy.url.protocol === 'https:' ? requestHttps : requestHttp)({
    method: 'CONNECT',
    host: proxy.url.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.url.port === '' ? (proxy.url.protocol === 'https:' ? 443 : 80) : proxy.url.port,
    path: authority,
    agent: false,
    headers: { Host: authority, ...(proxy.authorization !== null && { 'Proxy-Authorization': proxy.authorization }) },
  });
  let giveUp = (): void => {
    request.destroy();
  };
  request.once('connect', ({ statusCode = 0 }, socket, head) => {
    socket.on('error', () => undefined);
    if (statusCode >= 200 && statusCode < 300 && head.length === 0) {
      socket.setNoDelay(true);
      return done(null, socket, host);
    }
    socket.destroy();
    // 407 and 403 hold for every address; a failure to reach one says nothing of the next.
    if (statusCode >= 500 && others.length > 0) giveUp = openTunnel(proxy, others, port, done);
    else done(proxyFault(`PROXY_${statusCode}`, 'o proxy de saída não abriu a conexão'), null, null);
  });
  request.once('error', ({ code = 'ERRO' }: NodeJS.ErrnoException) =>
    done(proxyFault(`PROXY_${code}`, 'o proxy de saída não foi alcançado'), null, null),
  );
  request.end();
  return () => {
    giveUp();
  };
}
