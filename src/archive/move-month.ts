/**
 * Moves the rows of an archived month out of the database or back, and its files to another place.
 * Invariant: a row is in the database, or in a file that was verified after the row was sealed, or in both. A removal verifies the
 * whole month, registers its act, and waits until that is sealed. Each batch is one transaction of one part's rows; its function
 * takes only rows that the archive has exactly as they are.
 * Crash: the act stands, rows that are still there stay readable, and the next run verifies and goes on. A restoration is
 * registered when all rows are back; until then readers find the rest in the files.
 */
import type { Row } from '../db/binary-record.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../db/pool.ts';
import { addAct, isRemoved, type MonthAct } from './acts.ts';
import { returnLoans } from './leave.ts';
import { manifestName, MAX_MANIFEST, readFile, readManifest } from './manifest.ts';
import { ArchiveFault } from './archive-fault.ts';
import type { Place } from './place.ts';
import { readPart, verifyMonth } from './verify-month.ts';
import type { Archiving } from './write-month.ts';

/** Rows of one statement, so that it ends in some ten milliseconds. */
const BATCH = 2_000;

export interface Moving extends Pick<Archiving, 'pool' | 'openPlace' | 'month' | 'actor' | 'onProgress'> {
  readonly reason: string | null;
}

/** `seal` seals what is settled, which a removal waits for. Returns how many rows went. Throws {@link ArchiveFault} where a file is not as it was archived: nothing is removed then. */
export async function removeMonth(moving: Moving, seal: () => Promise<void>): Promise<number> {
  const { pool, openPlace, month, onProgress } = moving;
  const act = await verifyMonth(pool, openPlace, month);
  if (act.act === 'remocao_concluida') throw new ArchiveFault(`${month} was removed before: nothing was done`);
  if (act.act === 'restauracao') throw new ArchiveFault(`${month} was restored: archive it again to remove it`);
  if (act.act !== 'remocao') await register(moving, act, 'remocao', 0);
  await untilSealed(pool, month, seal);
  let removed = 0;
  for await (const part of partsOf(moving, act)) {
    for await (const rows of batches(part('deliveries', ['id', 'attempts', 'finished_at']))) {
      removed += await removeSome(pool, month, rows, []);
      onProgress?.(removed);
    }
    for await (const rows of batches(part('attempts', ['delivery_id']))) {
      removed += await removeSome(pool, month, [], [...new Set(rows.map(({ delivery_id: id }) => id as string))]);
      onProgress?.(removed);
    }
  }
  await register(moving, act, 'remocao_concluida', removed);
  return removed;
}

async function removeSome(pool: Pool, month: string, deliveries: readonly Row[], attempted: string[]): Promise<number> {
  const column = (name: string) => deliveries.map((row) => row[name]) as string[];
  const [{ removed }] = await pool.run(
    (sql) => sql<[{ removed: number }]>`
      select remove_archived(${month}, ${column('id')}::uuid[], ${column('attempts')}::int[],
                             ${column('finished_at')}::timestamptz[], ${attempted}::uuid[])::float8 as removed`,
  );
  return removed;
}

/** Returns how many rows came back. Throws {@link ArchiveFault} where a file is not as it was archived: what came back stays. */
export async function restoreMonth(moving: Moving): Promise<number> {
  const { pool, openPlace, month, onProgress } = moving;
  const act = await verifyMonth(pool, openPlace, month);
  if (!isRemoved(act)) throw new ArchiveFault(`the rows of ${month} are in the database: nothing was done`);
  // A removal that is under way takes none of what comes back.
  if (act.act === 'remocao') await register(moving, act, 'remocao_concluida', 0);
  await returnLoans(pool, openPlace, act);
  let restored = 0;
  const put = async (deliveries: readonly Row[], attempts: readonly Row[]) => {
    const [{ rows }] = await pool.run(
      (sql) => sql<[{ rows: number }]>`
        select restore_archived(${month}, ${JSON.stringify(deliveries)}::text::json, ${JSON.stringify(attempts)}::text::json)::float8 as rows`,
    );
    restored += rows;
    onProgress?.(restored);
  };
  // A delivery that is back is read with the attempts in the database, so these come first.
  for await (const part of partsOf(moving, act))
    for await (const attempts of batches(part('attempts'))) await put([], attempts);
  for await (const part of partsOf(moving, act))
    for await (const deliveries of batches(part('deliveries'))) await put(deliveries, []);
  // Some may have left again meanwhile. Whoever marks loans behind this lock finds their deliveries, and takes none of them.
  await pool.run((sql) => sql`select pg_advisory_xact_lock(advisory_lock('ordering erasures'))`);
  await returnLoans(pool, openPlace, act);
  await register(moving, act, 'restauracao', restored);
  return restored;
}

/** Copies a month's files to another place, verifies them, and registers it as the place to read. The old files stay, unerased. */
export async function carryMonth(moving: Moving, to: Place): Promise<MonthAct> {
  const { pool, openPlace, month, onProgress } = moving;
  const act = await verifyMonth(pool, openPlace, month);
  if (to.name === act.place) throw new ArchiveFault(`${month} is in ${to.name} already: nothing was done`);
  const from = openPlace(act.place);
  const { partes } = await readManifest(from, act);
  for (const [index, file] of partes.flatMap(({ arquivos }) => arquivos).entries()) {
    await to.write(file.nome, await readFile(from, file));
    onProgress?.(index + 1);
  }
  const manifest = manifestName(month, act.manifest);
  await to.write(manifest, await from.read(manifest, MAX_MANIFEST));
  await verifyMonth(pool, (name) => (name === act.place ? to : openPlace(name)), month);
  await register(moving, act, act.act, act.rows, to.name);
  return { ...act, place: to.name };
}

async function register(
  { pool, actor, reason }: Moving,
  found: MonthAct,
  act: MonthAct['act'],
  rows: number,
  place = found.place,
) {
  await addAct(pool, found, { ...found, act, rows, place, actor, reason });
}

/** How long a removal waits for older transactions, which hold the seal back. */
const SEALED_WITHIN_MS = 10 * 60_000;

async function untilSealed(pool: Pool, month: string, seal: () => Promise<void>): Promise<void> {
  const isSealed = async () => {
    const [row] = await pool.run(
      (sql) => sql<[{ sealed: boolean }]>`
        select exists (select from seals where (end_epoch, end_tx) > (a.epoch, xid8send(a.tx)::bigint)) as sealed
        from archive_acts a where month = ${month} order by position desc limit 1`,
    );
    return row.sealed;
  };
  for (let waitedMs = 0; !(await isSealed()); waitedMs += 1_000) {
    if (waitedMs > SEALED_WITHIN_MS) {
      throw new ArchiveFault('an old transaction holds the seals back (queue status shows it): nothing was removed');
    }
    await seal();
    if (!(await isSealed())) await sleep(1_000);
  }
}

/** The parts of a month, each as a function that reads its rows of a table ({@link readPart}). */
async function* partsOf({ openPlace }: Moving, act: MonthAct) {
  const place = openPlace(act.place);
  const { partes } = await readManifest(place, act);
  for (const part of partes)
    yield (table: 'deliveries' | 'attempts', columns?: string[]) => readPart(place, part, table, columns);
}

async function* batches(groups: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[]> {
  for await (const rows of groups) for (let at = 0; at < rows.length; at += BATCH) yield rows.slice(at, at + BATCH);
}
