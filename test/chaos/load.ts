/** The loan core's part: transactions that commit events, roll back, or never learn which, while the database falls. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, Tx } from '../../src/db/pool.ts';
import type { Random } from '../support/random.ts';
import { FAN_OUT, type World } from './world.ts';

const EVENTS_A_TRANSACTION = 10;
const ROLLED_BACK_SHARE = 0.1;
const ROLLED_BACK = new Error('rolled back on purpose');

export interface Ledger {
  /** Streams whose commit was acknowledged. */
  readonly committed: string[];
  readonly rolledBack: string[];
  /** Streams whose commit's answer never came: the database alone knows. */
  readonly unknown: string[];
  /** Deliveries of the committed ones. */
  deliveries: number;
}

async function appendAll(tx: Tx, partnerId: string, streams: readonly string[]): Promise<void> {
  await tx`
    select append_event(stream, 0, 'desembolso.falhou', ${partnerId},
             json_build_object('emprestimo_id', stream, 'numero_emprestimo', '2026-00000001', 'motivo', 'conta encerrada'),
             'chaos')
    from unnest(${streams as string[]}::uuid[]) as streams (stream)`;
}

/** A UUID of the run's seed, so that receivers can choose by it what the seed repeats. */
function newStream(random: Random): string {
  const hex = Array.from({ length: 4 }, () =>
    random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}

async function commitOne(
  pool: Pool,
  ledger: Ledger,
  random: Random,
  partnerId: string,
  events: number,
  fails: boolean,
  fanOut: number,
) {
  const streams = Array.from({ length: events }, () => newStream(random));
  let isComplete = false;
  try {
    await pool.transaction(async (tx) => {
      await appendAll(tx, partnerId, streams);
      if (fails) throw ROLLED_BACK;
      isComplete = true;
    });
    ledger.committed.push(...streams);
    ledger.deliveries += events * fanOut;
  } catch (error) {
    if (isComplete) ledger.unknown.push(...streams);
    else ledger.rolledBack.push(...streams);
    if (error !== ROLLED_BACK) await sleep(200);
  }
}

/** Commits `deliveries` deliveries evenly over the span, whatever happens to the database meanwhile. */
export async function commitLoad(world: World, random: Random, deliveries: number, spanMs: number): Promise<Ledger> {
  const ledger: Ledger = { committed: [], rolledBack: [], unknown: [], deliveries: 0 };
  const { pool, partners, refusing, hanging } = world;
  // Their six attempts take the longest, so they come first. One hangs, for three minutes: silence makes a window 1, so each more would add as much.
  await commitOne(pool, ledger, random, hanging, 1, false, 1);
  await commitOne(pool, ledger, random, refusing, 80, false, 1);
  const startedAtMs = performance.now();
  while (ledger.deliveries < deliveries) {
    const missing = Math.ceil((deliveries - ledger.deliveries) / FAN_OUT);
    const events = Math.min(missing, EVENTS_A_TRANSACTION);
    const [partner, fails] = [random.pick(partners), random.chance(ROLLED_BACK_SHARE)];
    await commitOne(pool, ledger, random, partner, events, fails, FAN_OUT);
    const aheadMs = (ledger.deliveries / deliveries) * spanMs - (performance.now() - startedAtMs);
    if (aheadMs > 5) await sleep(aheadMs);
  }
  return ledger;
}
