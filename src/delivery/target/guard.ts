/**
 * The guard on every connection that leaves for a partner.
 * Invariant: no TCP connection is opened to a refused address. A literal address is judged as it is. A name is resolved once, every address
 * of the answer is judged, and one refused address refuses the name: a public receiver has no private addresses. The connection is pinned
 * to the judged addresses, so a second look-up cannot differ. The peer's address is judged again once connected, before TLS and before a
 * byte is written.
 * Alternatives: a guard on `lookup` never sees a literal address; a `net.BlockList` in the connect options fails open on HTTPS.
 */
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext, TLSSocket } from 'node:tls';
import { addressVerdict } from './addresses.ts';
import { ConnectFault } from './connect-fault.ts';
import { type ClientCertificate, type Identity, plainIdentity } from './identity.ts';
import { createResolver, type Resolve } from './names.ts';
import { openTunnel, type Proxy } from './tunnel.ts';

export interface GuardOptions {
  readonly allowInsecure: boolean;
  /** Default: hosts file and DNS. */
  readonly resolve?: Resolve;
  /** For tests: a PEM certificate authority trusted beside the built-in ones. */
  readonly tls?: { readonly ca: string };
  /** Our certificate and trusted authorities, instead of `tls`. */
  readonly identity?: Identity;
  /** Every connection leaves through it. */
  readonly proxy?: Proxy | null;
  /** Called once a TLS handshake is over, before the connection is used. */
  readonly onSecured?: (origin: string, socket: TLSSocket) => void;
}

/** The connector options that the guard needs; IPv6 hostnames come without brackets. */
interface ConnectTarget {
  readonly hostname: string;
  readonly protocol: string;
  readonly port: string;
}

/** `address` is the one connected to; null: only the proxy knows it. */
type ConnectCallback = (
  ...result: [error: null, socket: Socket, address: string | null] | [error: Error, socket: null, address: null]
) => void;

/** An undici connector that returns how to give up, which destroys a socket that is still connecting. */
export type GuardedConnector = (
  target: ConnectTarget,
  callback: ConnectCallback,
  onStage?: (stage: Stage) => void,
  certificate?: ClientCertificate | null,
) => () => void;

export type Stage = 'name' | 'connection' | 'tls';

const TLS_FAILED = 'a conexão segura falhou';
const KEEP_ALIVE_PROBE_MS = 60_000;
/**
 * How long each address but the last may take to connect. With Node's 250 ms a lost first SYN, or a busy poller, moved on to the last
 * address: often IPv6, without a route.
 */
const ADDRESS_MS = 3_000;

function asError(error: unknown): Error & { code?: string } {
  return error instanceof Error ? error : new Error(String(error));
}

function sharingOpenLookups(resolve: Resolve): Resolve {
  const open = new Map<string, Promise<readonly string[]>>();
  return (hostname) => {
    const known = open.get(hostname);
    if (known !== undefined) return known;
    const answer = resolve(hostname).finally(() => open.delete(hostname));
    open.set(hostname, answer);
    return answer;
  };
}

function refusal(): ConnectFault {
  return new ConnectFault('refused', 'DESTINO_RECUSADO', 'o destino é ou resolve para um endereço não permitido');
}

/** Ends in a number, as addresses do, including old forms (`127.1`, `0x7f000001`); no receiver's name does. */
const NUMBERED = /(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/i;

async function vettedAddresses(hostname: string, resolve: Resolve, allowInsecure: boolean): Promise<readonly string[]> {
  const isName = isIP(hostname) === 0;
  if (isName && NUMBERED.test(hostname)) throw refusal();
  const addresses = isName
    ? await resolve(hostname).catch((error: unknown) => {
        const { code = 'ENOTFOUND' } = asError(error);
        throw new ConnectFault('unresolved', code, 'o nome não foi resolvido');
      })
    : [hostname];
  if (addresses.length === 0) throw new ConnectFault('unresolved', 'ENODATA', 'o nome não tem endereços');
  if (addresses.some((address) => addressVerdict(address, { allowInsecure }) === 'refused')) throw refusal();
  return addresses;
}

/**
 * Replaces `dns.lookup` and answers the vetted addresses. Like the original it answers asynchronously: an address without a route fails at
 * once, and `tls.connect` would throw over a socket without an error listener yet, which ends the process.
 */
function pinnedTo(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    const [first] = answers;
    if (options.all === true || first === undefined) process.nextTick(callback, null, answers);
    else process.nextTick(callback, null, first.address, first.family);
  };
}

const portOf = ({ protocol, port }: ConnectTarget) => Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port);

const originOf = ({ protocol, hostname, port }: ConnectTarget) =>
  `${protocol}//${hostname}${port === '' ? '' : `:${port}`}`;

function tlsOptions(hostname: string, secureContext: SecureContext) {
  return {
    secureContext,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(hostname) === 0 && { servername: hostname.replace(/\.$/, '') }),
  };
}

function openSocket(target: ConnectTarget, addresses: readonly string[], secureContext: SecureContext): Socket {
  const options = {
    host: target.hostname,
    port: portOf(target),
    lookup: pinnedTo(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_MS,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
  };
  if (target.protocol !== 'https:') return connectTcp(options);
  return connectTls({ ...options, ...tlsOptions(target.hostname, secureContext) });
}

/** Calls `done` once the socket is writable, or with the fault that ended it before. */
function watch(
  socket: Socket,
  isTls: boolean,
  allowInsecure: boolean,
  onStage: (stage: Stage) => void,
  done: (fault: ConnectFault | null) => void,
) {
  let address: string | null = null;
  socket.once('connect', () => {
    address = socket.remoteAddress ?? null;
    // Closed already: over TLS the handshake's first bytes leave before this is called.
    if (address === null) done(new ConnectFault(isTls ? 'tls' : 'connection', 'FECHADA', 'a conexão foi fechada'));
    else if (addressVerdict(address, { allowInsecure }) === 'refused') done(refusal());
    else if (!isTls) done(null);
    else onStage('tls');
  });
  if (isTls) socket.once('secureConnect', () => done(null));
  socket.on('error', (error: Error & { code?: string }) => {
    const kind = isTls && address !== null ? 'tls' : 'connection';
    const { code = 'ERRO' } = error;
    done(new ConnectFault(kind, code, kind === 'tls' ? TLS_FAILED : 'a conexão falhou', address));
  });
  socket.once('close', () => done(new ConnectFault('connection', 'FECHADA', 'a conexão foi fechada', address)));
}

/** TLS within a tunnel; the socket's peer is the proxy. */
function startTls(
  socket: Socket,
  hostname: string,
  secureContext: SecureContext,
  done: (fault: ConnectFault | null) => void,
) {
  const secured = connectTls({ socket, ...tlsOptions(hostname, secureContext) });
  secured.once('secureConnect', () => done(null));
  secured.on('error', (error: Error & { code?: string }) =>
    done(new ConnectFault('tls', error.code ?? 'ERRO', TLS_FAILED)),
  );
  secured.once('close', () => done(new ConnectFault('tls', 'FECHADA', 'a conexão foi fechada')));
  return secured;
}

/**
 * Makes the connect function for undici's `Client`. Its errors are {@link ConnectFault}s: `refused` by the guard, `unresolved` name,
 * `connection` (TCP, the proxy), `tls` (handshake or certificate).
 */
export function guardedConnector(options: GuardOptions): GuardedConnector {
  const { allowInsecure, resolve = createResolver(), tls, proxy = null } = options;
  const sharedResolve = sharingOpenLookups(resolve);
  const identity = options.identity ?? plainIdentity(tls?.ca);
  const vet = async (hostname: string): Promise<readonly string[]> => {
    if (proxy?.resolves !== true || isIP(hostname) > 0) return vettedAddresses(hostname, sharedResolve, allowInsecure);
    // A resolving proxy gets the name unchanged; its form is judged all the same.
    if (NUMBERED.test(hostname)) throw refusal();
    return [hostname];
  };
  return (target, callback, onStage = () => undefined, certificate = null) => {
    const isTls = target.protocol === 'https:';
    let socket: Socket | null = null;
    let closeTunnel: (() => void) | null = null;
    let isDone = false;
    const done = (fault: ConnectFault | null, address: string | null = socket?.remoteAddress ?? null) => {
      if (isDone) return;
      isDone = true;
      if (fault === null && socket !== null) {
        if (socket instanceof TLSSocket) options.onSecured?.(originOf(target), socket);
        return callback(null, socket, address);
      }
      socket?.destroy();
      closeTunnel?.();
      callback(fault ?? refusal(), null, null);
    };
    const open = async (addresses: readonly string[]) => {
      const secureContext = await identity(certificate);
      if (isDone) return;
      onStage('connection');
      if (proxy === null) {
        socket = openSocket(target, addresses, secureContext);
        watch(socket, isTls, allowInsecure, onStage, done);
        return;
      }
      closeTunnel = openTunnel(proxy, addresses, portOf(target), (fault, tunnel, host) => {
        if (fault !== null) return done(fault);
        const address = isIP(host) > 0 ? host : null;
        if (isTls) onStage('tls');
        socket = isTls ? startTls(tunnel, target.hostname, secureContext, (late) => done(late, address)) : tunnel;
        if (isDone) socket.destroy();
        else if (!isTls) done(null, address);
      });
    };
    onStage('name');
    vet(target.hostname)
      .then(open)
      .catch((error: unknown) => {
        const { code = 'ERRO' } = asError(error);
        done(error instanceof ConnectFault ? error : new ConnectFault('connection', code, 'a conexão falhou'));
      });
    return () => done(new ConnectFault('connection', 'ABANDONADA', 'a conexão foi abandonada'));
  };
}
