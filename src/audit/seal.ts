/**
 * The sealer: hashes settled rows in batches, each chained to the one before.
 *
 * Invariant: the seals' spans of transactions follow each other from 0 without a gap, and none reaches a transaction
 * that could still commit: `end_tx` is at most the xmin of the snapshot that read the rows. So every row ever committed
 * is in exactly one seal or above the last, and a row that turns up below it later was put there by hand.
 * Crash at any point: a turn is one transaction, nothing is half sealed. Two sealers: the advisory lock, which is the
 * transaction's own and so works behind a pooler, lets one work; without it the key of `seals` would still refuse the
 * second.
 * No writer waits: only `seals` is written, and only rows that no one writes any more are read. Measured on two busy
 * cores: 10 to 20 µs a row in turns of 10,000 rows, at 10 million attempts; a turn without new rows 5 ms.
 * The horizon is the server's: a transaction left open in any of its databases holds it back.
 * Alternative: a trigger that hashes in the writer's transaction orders all writers in one queue for the chain's head.
 */
import type { Tx } from '../db/pool.ts';
import { chain, type Seal } from './chain.ts';

const SEAL_LOCK = 7_264_108_352;
/** Rows of a batch, and those of its last transaction; a proof carries 32 bytes for each. */
const BATCH_ROWS = 1_024;
/** A turn reads about this many rows at most, so that its transaction stays short. */
const TURN_ROWS = 16_384;
/**
 * Transactions that a turn looks at, at first and at most: some are flushes of 512 attempts, most are claims and wakes
 * without a row to seal. A fixed 65,536 sealed a backlog of a million rows in 25 s, because each turn counted all of it.
 */
const FIRST_TXS = 256;
const MOST_TXS = 1_048_576;

export interface SealTurn {
  /** The seals this turn added. */
  readonly seals: number;
  readonly rows: number;
  /** True when settled rows may be left: take another turn at once. */
  readonly more: boolean;
}

/** What a turn has found out that the seals do not say. */
export interface SealCursor {
  /** From the last seal to here there is nothing. */
  emptyBelow: number;
  /** Transactions that the next turn looks at. */
  txs: number;
}

export function startCursor(): SealCursor {
  return { emptyBelow: 0, txs: FIRST_TXS };
}

/** The restored database counts transactions from anew: sealed rows lie in the future. */
class ClockOfTransactionsWentBack extends Error {
  override name = 'ClockOfTransactionsWentBack';
}

/** Seals some settled rows in the caller's transaction; nothing when another sealer is at work. */
export async function sealTurn(tx: Tx, cursor: SealCursor, options: { batchRows?: number } = {}): Promise<SealTurn> {
  const [lock] = await tx<[{ taken: boolean }]>`select pg_try_advisory_xact_lock(${SEAL_LOCK}) as taken`;
  if (!lock.taken) return { seals: 0, rows: 0, more: false };
  const before = await readLastSeal(tx);
  const from = Math.max(before?.endTx ?? 0, cursor.emptyBelow);
  const { horizon, cut, now } = await readSpan(tx, before?.endTx ?? 0, from, cursor);
  if (cut <= from) return { seals: 0, rows: 0, more: false };

  const batches = await readBatches(tx, from, cut, options.batchRows ?? BATCH_ROWS);
  if (batches.length === 0) {
    cursor.emptyBelow = cut;
    return { seals: 0, rows: 0, more: cut < horizon };
  }
  const seals: Seal[] = [];
  for (const batch of batches) seals.push(chain(seals.at(-1) ?? before, batch, now));
  await insertSeals(tx, seals);
  return { seals: seals.length, rows: batches.reduce((sum, { rows }) => sum + rows, 0), more: cut < horizon };
}

/** The newest seal; null when there is none. */
export async function readLastSeal(tx: Tx): Promise<Seal | null> {
  const [last] = await tx<Seal[]>`select ${sealColumns(tx)} from seals order by number desc limit 1`;
  return last ?? null;
}

/** The columns of a {@link Seal}. */
export function sealColumns(tx: Tx) {
  return tx`number::float8, first_tx::float8 as "firstTx", end_tx::float8 as "endTx", rows, digest, previous, hash,
            sealed_at as "sealedAt"`;
}

/** Up to where this turn seals: whole transactions, all of them settled. */
async function readSpan(
  tx: Tx,
  sealed: number,
  from: number,
  cursor: SealCursor,
): Promise<{ horizon: number; cut: number; now: Date }> {
  const [clock] = await tx<[{ horizon: number; now: Date }]>`
    select pg_snapshot_xmin(pg_current_snapshot())::text::float8 as horizon, clock_timestamp()::timestamptz(3) as now`;
  if (clock.horizon < sealed) {
    throw new ClockOfTransactionsWentBack(
      `transactions count from ${clock.horizon} but are sealed up to ${sealed}: after a restore into a new cluster, ` +
        'advance it with pg_resetwal --next-transaction-id and --epoch',
    );
  }
  const top = Math.min(clock.horizon, from + cursor.txs);
  const [full] = await tx<{ tx: number }[]>`
    select tx::float8 from sealable_rows where tx >= ${from} and tx < ${top} order by tx offset ${TURN_ROWS} limit 1`;
  cursor.txs = full === undefined ? Math.min(cursor.txs * 2, MOST_TXS) : Math.max(Math.ceil(cursor.txs / 2), 1);
  return { ...clock, cut: full === undefined ? top : Math.min(full.tx + 1, top) };
}

/** The rows of the span in batches of whole transactions, hashed in the server. */
async function readBatches(
  tx: Tx,
  from: number,
  cut: number,
  batchRows: number,
): Promise<Pick<Seal, 'endTx' | 'rows' | 'digest'>[]> {
  const batches = await tx<{ lastTx: number; rows: number; digest: Buffer }[]>`
    with leaves as materialized (
      select tx, sha256(convert_to(line, 'UTF8')) as leaf from sealable_rows where tx >= ${from} and tx < ${cut}
    ),
    sizes as (
      select tx, (sum(count(*)) over (order by tx) - count(*)) / ${batchRows}::int as rows_before from leaves group by tx
    )
    select max(tx)::float8 as "lastTx", count(*)::int as rows, sha256(string_agg(leaf, ''::bytea order by leaf)) as digest
    from leaves join sizes using (tx)
    group by floor(rows_before)
    order by floor(rows_before)`;
  // The last one reaches to the cut: above its last row there is nothing.
  return batches.map(({ lastTx, rows, digest }, index) => ({
    endTx: index === batches.length - 1 ? cut : lastTx + 1,
    rows,
    digest,
  }));
}

async function insertSeals(tx: Tx, seals: readonly Seal[]): Promise<void> {
  const columns = <T>(read: (seal: Seal) => T): T[] => seals.map(read);
  await tx`
    insert into seals (number, first_tx, end_tx, rows, digest, previous, hash, sealed_at)
    select number, first_tx, end_tx, rows, decode(digest, 'hex'), decode(previous, 'hex'), decode(hash, 'hex'), sealed_at
    from unnest(
      ${columns((seal) => seal.number)}::bigint[],
      ${columns((seal) => seal.firstTx)}::bigint[],
      ${columns((seal) => seal.endTx)}::bigint[],
      ${columns((seal) => seal.rows)}::int[],
      ${columns((seal) => seal.digest.toString('hex'))}::text[],
      ${columns((seal) => seal.previous.toString('hex'))}::text[],
      ${columns((seal) => seal.hash.toString('hex'))}::text[],
      ${columns((seal) => seal.sealedAt.toISOString())}::timestamptz[]
    ) as s (number, first_tx, end_tx, rows, digest, previous, hash, sealed_at)`;
}
