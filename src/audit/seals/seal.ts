/**
 * The sealer: hashes settled rows (no transaction can still commit below them), a tree for each batch, and appends the batch's root
 * to the log's tree.
 * Invariant: each committed row is in exactly one seal or above the last. The seals' spans of (epoch, transaction) follow each
 * other from (0, 0) without a gap, and end below each transaction that could still commit (`end_tx` is at most the xmin of the
 * snapshot that read the rows). So a row that appears below was inserted by hand. An epoch's last rows get their own seal. A
 * prepared transaction may commit into its epoch, so the epoch stays open until it ends. A batch reads its start from the last
 * seal: a remembered start would skip rows after a promotion.
 * Crash: a batch is one transaction. Two sealers: an advisory lock lets one work; the key of `seals` refuses a second.
 * Alternative: a trigger in the writer's transaction; all writers then queue for the log's head.
 */
import type { Tx } from '../../db/pool.ts';
import { SOURCE_NAMES } from '../../db/sealed-rows.ts';
import { LeafList } from './leaves.ts';
import { levelAboveInPieces, rootOf } from './tree/merkle.ts';
import { remainsOf } from './remains.ts';
import { type LogPoint, readEntries, type Span, within } from './rows.ts';
import { appendSeal, readLastSeal } from './seal-log.ts';

/**
 * About the rows of a batch. 32,768 take PostgreSQL 0.7 of the CPU a row, but the p99 of arrivals beside hanging webhooks was 15 to
 * 21 ms, not 10. The process also delivers, so it works in pieces of 1 to 2 ms.
 */
const BATCH_ROWS = 65_536;
/** Transactions of the first batch, and the most of any. Most have no row to seal; each batch estimates the next one's number. */
const FIRST_TXS = 256;
const MOST_TXS = 1_048_576;

export interface SealBatch {
  /** Rows of the seal that this batch added; 0 when it added no seal. */
  readonly rows: number;
  /** True when settled rows may be left: take another batch at once. */
  readonly more: boolean;
}

export interface Width {
  txs: number;
}

export function startWidth(): Width {
  return { txs: FIRST_TXS };
}

export interface SealOptions {
  /** Do nothing within this time after the last seal of any process. */
  readonly restMs?: number;
  readonly batchRows?: number;
}

const NOTHING_SEALED: SealBatch = { rows: 0, more: false };

/** Seals some settled rows in the caller's transaction; nothing when another sealer is at work. */
export async function sealBatch(
  tx: Tx,
  width: Width,
  { restMs = 0, batchRows = BATCH_ROWS }: SealOptions = {},
): Promise<SealBatch> {
  const [lock] = await tx<[{ taken: boolean }]>`select pg_try_advisory_xact_lock(advisory_lock('sealing')) as taken`;
  if (!lock.taken) return NOTHING_SEALED;
  const last = await readLastSeal(tx);
  const clock = await readClock(tx);
  const sinceMs = clock.now.getTime() - (last?.sealedAt.getTime() ?? -Infinity);
  if (Math.abs(sinceMs) < restMs) return NOTHING_SEALED;
  // Months are told apart by the times of their seals, so these never go back, though the clock does.
  const sealedAt = last !== null && sinceMs < 0 ? last.sealedAt : clock.now;
  const open = await findUnsealed(tx, last?.end ?? { epoch: 0, tx: 0 }, clock);
  if (open === null) return NOTHING_SEALED;
  const { list, end, span } = await readSome(tx, open, width, batchRows);
  if (list.rows === 0) return NOTHING_SEALED;
  const { hashes: leaves, rows } = await list.finish();
  const nodes = await levelAboveInPieces(leaves);
  const remains = await remainsOf(tx, span, 'whole');
  const batch = { end, rows, root: rootOf(nodes), remains, sealedAt };
  await appendSeal(tx, last, batch, { leaves, nodes });
  return { rows, more: end.tx < open.horizon || open.isPast };
}

interface Unsealed {
  readonly from: LogPoint;
  /** In the epoch of `from`, every transaction below this one has ended. */
  readonly horizon: number;
  readonly isPast: boolean;
}

/** Where the next seal may begin; null when nothing can be sealed yet. */
async function findUnsealed(tx: Tx, start: LogPoint, clock: Clock): Promise<Unsealed | null> {
  let from = start;
  while (from.epoch < clock.epoch) {
    const isOwn = from.epoch >= clock.ownFrom;
    const horizon = isOwn && clock.hasPrepared ? clock.horizon : Number.MAX_SAFE_INTEGER;
    if ((await countRows(tx, from, horizon, 1)) > 0) return { from, horizon, isPast: true };
    if (isOwn && clock.hasPrepared) return null;
    from = { epoch: from.epoch + 1, tx: 0 };
  }
  return clock.horizon > from.tx ? { from, horizon: clock.horizon, isPast: false } : null;
}

/** The leaves of the next rows from `from` on, and the end of their span; none where there are none below the horizon. */
async function readSome(tx: Tx, open: Unsealed, width: Width, batchRows: number) {
  const { horizon } = open;
  const most = 2 * batchRows;
  // Go on behind the transactions without a row: from their beginning, the next batch would read them again.
  for (let [from, isCounted] = [open.from, false]; ;) {
    const top = Math.min(horizon, from.tx + width.txs);
    const end = { epoch: from.epoch, tx: isCounted ? await narrow(tx, from, top, most) : top };
    const list = new LeafList(null, most);
    const span = settled({ from, end }, open);
    await readEntries(tx, span, 'whole', list.add, { limit: isCounted ? null : most });
    const { rows } = list;
    if (rows === most && !isCounted) {
      // There may be more, so nothing of this is sealed: fewer transactions are counted, and read to their end.
      width.txs = Math.max(Math.floor((top - from.tx) / 8), 1);
      isCounted = true;
      continue;
    }
    if (rows > 0 || end.tx >= horizon) {
      width.txs = txsFor(end.tx - open.from.tx, rows, batchRows);
      return { list, end, span };
    }
    // What was counted is known to have many rows further on.
    width.txs = (end.tx - from.tx) * (isCounted ? 1 : 8);
    from = end;
  }
}

/** Rows of the span. The index has `tx` as a number; the comparison as xid8 leaves out rows that are not settled yet. */
function settled(span: Span, { horizon, isPast }: Unsealed): string {
  const isNewest = span.end.tx === horizon && !isPast;
  const rows = isNewest ? within({ ...span, end: { ...span.end, tx: Number.MAX_SAFE_INTEGER } }) : within(span);
  return `${rows} and t.tx < '${span.end.tx}'::xid8`;
}

/** The number of transactions for the next batch, after `txs` of them held `rows` rows. */
function txsFor(txs: number, rows: number, batchRows: number): number {
  const wanted = Math.floor((txs / Math.max(rows, 1)) * batchRows);
  return Math.min(Math.max(wanted, 1), Math.max(txs * 2, FIRST_TXS), MOST_TXS);
}

interface Clock {
  readonly epoch: number;
  /** Transactions of this epoch below the horizon are over. */
  readonly horizon: number;
  /** The first epoch of this server. */
  readonly ownFrom: number;
  readonly hasPrepared: boolean;
  readonly now: Date;
}

/** Throws `CT503` on a server that the installation does not know. */
async function readClock(tx: Tx): Promise<Clock> {
  await tx`select refuse_strange_server()`;
  const [clock] = await tx<[Clock]>`
    select current_epoch() as epoch, pg_snapshot_xmin(pg_current_snapshot())::text::float8 as horizon,
           own_from as "ownFrom", exists (select from pg_prepared_xacts) as "hasPrepared",
           clock_timestamp()::timestamptz(3) as now
    from installation`;
  return clock;
}

/** Up to `limit` rows from a point to before a transaction of its epoch. */
async function countRows(tx: Tx, from: LogPoint, end: number, limit: number): Promise<number> {
  const span = within({ from, end: { epoch: from.epoch, tx: end } });
  const found = SOURCE_NAMES.map((source) => `select from ${source} t where ${span}`).join(' union all ');
  const [row] = await tx.unsafe<[{ count: number }]>(
    `select count(*)::int as count from (select from (${found}) every limit ${limit}) counted`,
  );
  return row.count;
}

/** The span's end, brought nearer if the span holds far too many rows for a batch; a transaction is never split. */
async function narrow(tx: Tx, from: LogPoint, top: number, most: number): Promise<number> {
  for (let cut = top; ; cut = from.tx + Math.max(Math.floor((cut - from.tx) / 8), 1)) {
    const isFull = (await countRows(tx, from, cut, most)) === most;
    if (!isFull || cut === from.tx + 1) return cut;
  }
}
