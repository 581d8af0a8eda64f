/**
 * Limits the open connections of one server.
 *
 * Invariant: at most `total` connections are open, and at most `perAddress` from one network (an IPv4 address or an IPv6 /64)
 * that is no trusted proxy. At a limit, a new connection replaces the one that has been idle for longest; else the one whose
 * request has waited longest for the rest of its body; else the new one is closed. So a client that sends nothing, or a byte now
 * and then, displaces its own connections.
 *
 * Alternative: Node's `maxConnections` refuses new connections, so 400 silent ones lock out all clients.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BlockList, isIPv4, isIPv6, type Socket } from 'node:net';

export interface ConnectionBounds {
  readonly total: number;
  /** 0 is no bound. */
  readonly perAddress: number;
  /** Addresses and subnets (`10.0.0.0/8`) to which `perAddress` does not apply. */
  readonly proxies: readonly string[];
}

/** Which bound was met when a connection was closed. */
export type Bound = 'total' | 'address';

interface Group {
  readonly bound: Bound;
  readonly limit: number;
  /** Idle connections; the one that has been idle for longest comes first. */
  readonly waiting: Set<Socket>;
  /** Those with one; the one whose request is the oldest comes first. */
  readonly busy: Set<Socket>;
}

interface Held {
  readonly groups: readonly Group[];
  /** The network that the second group is kept by; null when there is none. */
  readonly network: string | null;
  readonly answers: Map<ServerResponse, IncomingMessage>;
}

export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #proxies: BlockList;
  readonly #onDrop: (bound: Bound) => void;
  readonly #all: Group;
  readonly #networks = new Map<string, Group>();
  readonly #held = new Map<Socket, Held>();

  constructor(bounds: ConnectionBounds, onDrop: (bound: Bound) => void) {
    this.#bounds = bounds;
    this.#proxies = listOf(bounds.proxies);
    this.#onDrop = onDrop;
    this.#all = makeGroup('total', bounds.total);
  }

  get count(): number {
    return this.#held.size;
  }

  get requests(): number {
    return [...this.#held.values()].reduce((sum, { answers }) => sum + answers.size, 0);
  }

  admit(socket: Socket): void {
    const network = this.#networkOf(socket.remoteAddress ?? '');
    const groups = network === null ? [this.#all] : [this.#groupOf(network), this.#all];
    for (const group of groups) {
      if (group.waiting.size + group.busy.size < group.limit) continue;
      const [longest = this.#unfinished(group) ?? socket] = group.waiting;
      this.#leave(longest);
      longest.destroy();
      this.#onDrop(group.bound);
      if (longest === socket) return;
    }
    // The group may have lost its last connection, and with it its place in the map, a moment ago.
    if (network !== null) this.#networks.set(network, groups[0] as Group);
    for (const { waiting } of groups) waiting.add(socket);
    this.#held.set(socket, { groups, network, answers: new Map() });
    socket.once('close', () => this.#leave(socket));
  }

  /** A request has come whose answer will be `answer`. */
  begin(request: IncomingMessage, answer: ServerResponse): void {
    const { socket } = request;
    const held = this.#held.get(socket);
    if (held === undefined) return;
    held.answers.set(answer, request);
    for (const { waiting, busy } of held.groups) {
      waiting.delete(socket);
      busy.add(socket);
    }
    answer.once('close', () => {
      held.answers.delete(answer);
      if (held.answers.size > 0 || !this.#held.has(socket)) return;
      for (const { waiting, busy } of held.groups) {
        busy.delete(socket);
        waiting.add(socket);
      }
    });
  }

  /** The answers that this connection still waits for, in the order of their requests. */
  answersOf(socket: Socket): readonly ServerResponse[] {
    return [...(this.#held.get(socket)?.answers.keys() ?? [])];
  }

  /** The connection whose one request has waited longest for the rest of its body; undefined when none waits for that. */
  #unfinished({ busy }: Group): Socket | undefined {
    return busy.values().find((socket) => {
      const requests = [...(this.#held.get(socket)?.answers.values() ?? [])];
      return requests.length === 1 && requests[0]?.complete === false;
    });
  }

  #leave(socket: Socket): void {
    const held = this.#held.get(socket);
    if (held === undefined) return;
    this.#held.delete(socket);
    for (const { waiting, busy } of held.groups) {
      waiting.delete(socket);
      busy.delete(socket);
    }
    const [own] = held.groups;
    if (held.network !== null && own?.waiting.size === 0 && own.busy.size === 0) this.#networks.delete(held.network);
  }

  #groupOf(network: string): Group {
    return this.#networks.get(network) ?? makeGroup('address', this.#bounds.perAddress);
  }

  /** Null for an address that is not bound by itself. */
  #networkOf(remoteAddress: string): string | null {
    const address = remoteAddress.replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*/, '');
    const isProxy = isIPv4(address) || isIPv6(address) ? this.#proxies.check(address, familyOf(address)) : false;
    return this.#bounds.perAddress === 0 || isProxy ? null : networkOf(address);
  }
}

function makeGroup(bound: Bound, limit: number): Group {
  return { bound, limit, waiting: new Set(), busy: new Set() };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}

function listOf(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = '', bits] = subnet.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

/** One client can have every address of an IPv6 /64. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [front = '', back] = address.split('::');
  const [left, right] = [front, back ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - (left?.length ?? 0) - (right?.length ?? 0) }, () => '0');
  return `${[...(left ?? []), ...zeros, ...(right ?? [])].slice(0, 4).join(':')}::/64`;
}
