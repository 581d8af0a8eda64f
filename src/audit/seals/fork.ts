/**
 * Finds where this log parts from a head that it does not lead to.
 * A head says nothing of its rows, so this log can name the row only roughly. It is the first row of a later epoch after the
 * newest common head, because a recovery and a promotion begin an epoch. If that head is of the newest epoch, it is the first
 * row of that epoch. In a log of one epoch, it is the first row after that head, or a later one.
 */
import type { Pool, Tx } from '../../db/pool.ts';
import { SOURCE_NAMES, type SourceName } from '../../db/sealed-rows.ts';
import { writeHead } from '../checkpoint/checkpoint.ts';
import { nameOf, ofSeal, type VerifyFinding } from './compare-rows.ts';
import { readFramed } from './entry.ts';
import type { TreeHead } from './tree/merkle.ts';
import { framedOf, type LogPoint, sightOf, within } from './rows.ts';

/** A head that the log grew out of, and where its last seal ends. */
export interface CommonHead {
  readonly head: TreeHead;
  readonly end: LogPoint;
}

export async function describeFork(
  pool: Pool,
  kept: TreeHead,
  own: TreeHead | null,
  common: CommonHead | null,
): Promise<VerifyFinding> {
  const seal = (common?.head.size ?? 0) + 1;
  const behind = common?.end ?? { epoch: 0, tx: 0 };
  const laterEpoch = await pool.run((sql) => readFirstRow(sql, { epoch: behind.epoch + 1, tx: 0 }));
  const ofEpoch = await pool.run((sql) => readFirstRow(sql, { epoch: behind.epoch, tx: 0 }));
  const first = await pool.run((sql) => readFirstRow(sql, { epoch: 0, tx: 0 }));
  // A head of the newest epoch may be younger than the recovery that the other one was lost at.
  const isUncertain = common !== null && laterEpoch === null && ofEpoch?.name !== first?.name;
  const isNewEpoch = common !== null && (laterEpoch !== null || isUncertain);
  const row = isNewEpoch ? (laterEpoch ?? ofEpoch) : await pool.run((sql) => readFirstRow(sql, behind));
  const shared = isUncertain
    ? `The newest head that the log grew out of is ${writeHead(common.head)}, of its newest epoch.`
    : `Both grew out of ${common === null ? '' : writeHead(common.head)}.`;
  const words = [
    `the log does not lead to the head ${writeHead(kept)}; it has ${own === null ? 'no seal' : writeHead(own)}.`,
    common === null ? 'No head is common to both.' : shared,
    row === null ? 'The log has no row behind that.' : `They part at this row, ${isNewEpoch ? EPOCH : LATER}`,
    ...(isUncertain ? ['If that did not lose it, they part at a later one.'] : []),
  ];
  return ofSeal('ramificacao', seal, words.join(' '), row?.table, row?.name);
}

const EPOCH = 'the first of a new epoch: the server was recovered to an earlier moment, or promoted, before it.';
const LATER = 'the first behind that, or at a later one.';

/** The oldest row at or after a point; of one transaction, the first by table and position. */
async function readFirstRow(sql: Tx, from: LogPoint): Promise<{ table: SourceName; name: string } | null> {
  const span = within({ from, end: { epoch: 32_767, tx: 0 } });
  const sight = await sightOf(sql);
  const firsts = SOURCE_NAMES.map((source) => {
    const { entry, from: rows } = framedOf(source, sight);
    return `(select ${entry} as entry, epoch, tx from ${rows} where ${span} order by epoch, tx, entry limit 1)`;
  });
  const [row] = await sql.unsafe<{ entry: Buffer }[]>(
    `select entry from (${firsts.join(' union all ')}) found order by epoch, tx, entry limit 1`,
  );
  const entry = row === undefined ? null : (readFramed(row.entry)?.entry ?? null);
  return entry === null ? null : { table: entry.source, name: nameOf(entry.source, entry.fields) };
}
