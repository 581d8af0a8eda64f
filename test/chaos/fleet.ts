/** Three real poller processes, each behind a TCP proxy of its own, and what is done to them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type PollerProcess, startPollerProcess } from '../support/poller-process.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { freezeWhileHolding, lapseLeases } from './time.ts';
import type { World } from './world.ts';

const SIZE = 3;
const CAPACITY = '300';
/** Longer than a receiver of a hasty run takes to answer, and a call on a connection that is silent to be given up. */
const TELLS_MS = 10_000;

interface Member {
  readonly proxy: TcpProxy;
  readonly url: string;
  poller: PollerProcess;
  isBusy: boolean;
}

export interface FleetFigures {
  kills: number;
  freezes: number;
  cuts: number;
  blackHoles: number;
  /** Lines that pollers logged, by message; only warnings and errors. */
  readonly said: Map<string, number>;
}

export interface FleetOptions {
  /** The leases of the dead are made to end soon, instead of in 45 s. */
  readonly haste: boolean;
  /** The pollers hold no locks under their names. */
  readonly leaseAlone: boolean;
}

export class Fleet {
  readonly figures: FleetFigures = { kills: 0, freezes: 0, cuts: 0, blackHoles: 0, said: new Map() };
  readonly #world: World;
  readonly #members: Member[];
  readonly #options: FleetOptions;
  #lapses: Promise<void>[] = [];

  private constructor(world: World, members: Member[], options: FleetOptions) {
    this.#world = world;
    this.#members = members;
    this.#options = options;
  }

  static async start(world: World, databaseUrl: string, options: FleetOptions): Promise<Fleet> {
    const members = await Promise.all(
      Array.from({ length: SIZE }, async () => {
        const { proxy, url } = await TcpProxy.to(databaseUrl);
        return { proxy, url, poller: await startMember(url, options), isBusy: false };
      }),
    );
    return new Fleet(world, members, options);
  }

  /** So many members that nothing is being done to, by the fault's draw; waits until there are as many at once. */
  async #take(draw: number, count: number): Promise<Member[]> {
    for (;;) {
      const free = this.#members.filter((member) => !member.isBusy);
      if (free.length >= count) {
        const from = Math.floor(draw * free.length);
        const taken = [...free, ...free].slice(from, from + count);
        for (const member of taken) member.isBusy = true;
        return taken;
      }
      await sleep(20);
    }
  }

  async #takeOne(draw: number): Promise<Member> {
    const [member] = await this.#take(draw, 1);
    return member as Member;
  }

  /**
   * `kill -9` of so many at once that hold a claim, and others in their place. Without locks, of two dead in three the leases end
   * sooner than 45 s, or the run would only wait.
   */
  async kill(draw: number, count = 1): Promise<void> {
    const members = await this.#take(draw, count);
    for (const { poller } of members) await freezeWhileHolding(this.#world.pool, poller.pid);
    await Promise.all(members.map(({ poller }) => poller.end('SIGKILL')));
    const { haste, leaseAlone } = this.#options;
    await Promise.all(
      members.map(async (member) => {
        this.figures.kills += 1;
        this.#note(member.poller);
        if (leaseAlone && (haste || (draw * 997) % 1 < 0.67))
          this.#lapses.push(lapseLeases(this.#world.pool, member.poller.pid, draw * 3_000));
        member.poller = await startMember(member.url, this.#options);
        member.isBusy = false;
      }),
    );
  }

  /**
   * SIGSTOP for longer than a lease; in haste for a moment in which its leases are made to end. Its own clock does not
   * tell it that, so it still sends what it had claimed, as no poller does after 45 s: it is left alone until it has told.
   */
  async freeze(draw: number): Promise<void> {
    const member = await this.#takeOne(draw);
    process.kill(member.poller.pid, 'SIGSTOP');
    if (this.#options.haste) {
      await lapseLeases(this.#world.pool, member.poller.pid, 1_000);
      await sleep(1_000);
    } else await sleep(46_000 + draw * 8_000);
    process.kill(member.poller.pid, 'SIGCONT');
    this.figures.freezes += 1;
    if (this.#options.haste) await sleep(TELLS_MS);
    member.isBusy = false;
  }

  async cut(draw: number): Promise<void> {
    const member = this.#members[Math.floor(draw * SIZE)];
    this.figures.cuts += member?.proxy.cut() ?? 0;
  }

  /** Connections swallow everything; every other time new ones too, for some seconds. */
  async blackHole(draw: number): Promise<void> {
    const member = this.#members[Math.floor(draw * SIZE)];
    const isDark = (draw * 991) % 1 < 0.5;
    this.figures.blackHoles += member?.proxy.blackHole(isDark) ?? 0;
    await sleep(this.#options.haste ? 1_500 : 6_000);
    member?.proxy.heal();
  }

  /** SIGTERM to all; returns their exit codes. */
  async drain(): Promise<(number | null)[]> {
    await Promise.all(this.#lapses);
    const codes = await Promise.all(this.#members.map((member) => member.poller.end('SIGTERM')));
    for (const member of this.#members) this.#note(member.poller);
    await this.#closeProxies();
    return codes;
  }

  /** Ends what is left, after a run that failed. */
  async abandon(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.poller.end('SIGKILL')));
    await this.#closeProxies();
  }

  async #closeProxies(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.proxy.close()));
  }

  #note(poller: PollerProcess): void {
    for (const line of poller.lines) {
      const [, level = ''] = /"level":"?(\w+)"?/.exec(line) ?? [];
      const [, message = line.slice(0, 120)] = /"msg":"([^"]*)"/.exec(line) ?? [];
      if (['30', '20', 'info', 'debug'].includes(level)) continue;
      this.figures.said.set(message, (this.figures.said.get(message) ?? 0) + 1);
    }
  }
}

function startMember(url: string, { leaseAlone }: FleetOptions): Promise<PollerProcess> {
  return startPollerProcess(url, { POLLER_CAPACITY: CAPACITY, ...(leaseAlone && { DATABASE_PREPARE: 'false' }) });
}
