/**
 * Writes a month to its place: whole seals, part by part, each part with a file for each table that has rows in it. The month's
 * seals are those made in it, by the time of São Paulo. The ended deliveries of its events go with it; a pending one stays in the
 * database.
 * Invariant: a month is archived when its row in `archive_acts` is committed, after everything was read back and each seal's root
 * was computed from it. Crash: the next run replaces the files of an interrupted run, or leaves them unused.
 */
import type { Signer } from '../audit/checkpoint/note.ts';
import { readEntries, within } from '../audit/seals/rows.ts';
import { readSeals, type Seal } from '../audit/seals/seal-log.ts';
import { addMonths, startOfDay } from '../contract/calendar.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { addAct, type MonthAct, readMonth } from './acts.ts';
import {
  type ArchivedFile,
  digestOfDeliveries,
  type Manifest,
  type Part,
  writeFile,
  writeManifest,
} from './manifest.ts';
import { ArchiveFault } from './archive-fault.ts';
import type { Place } from './place.ts';
import { rowsFor } from '../db/sealed-rows.ts';
import { recordOf, TableFiles } from './table-file.ts';
import { verifyMonth, verifyPart } from './verify-month.ts';

/** Rows and bytes of a part; a seal is never split. The records of one part are in memory at a time. */
const PART_ROWS = 65_536;
const PART_BYTES = 64 * 1_024 * 1_024;
const PART_SEALS = 1_024;

export interface Archiving {
  readonly pool: Pool;
  readonly place: Place;
  readonly openPlace: (name: string) => Place;
  readonly month: string;
  readonly signers: readonly Signer[];
  readonly actor: string;
  readonly onProgress?: (rows: number) => void;
}

/** Writes, reads back and registers the month. Throws {@link ArchiveFault} where it cannot be done. */
export async function archiveMonth(archiving: Archiving): Promise<MonthAct> {
  const { pool, place, month, actor } = archiving;
  const known = await pool.run((sql) => readMonth(sql, month));
  if (known !== null && known.act !== 'restauracao' && !(await isSpoilt(archiving, known)))
    throw new ArchiveFault(`${month} is archived in ${known.place} since before: nothing was done`);
  const range = await pool.run((sql) => rangeOf(sql, month));
  const { manifest, digest } = await writeMonth(archiving, range);
  const { de: firstSeal, ate: lastSeal, linhas: rows } = manifest.selos;
  const made = {
    month,
    firstSeal,
    lastSeal,
    place: place.name,
    manifest: digest,
    deliveries: digestOfDeliveries(manifest),
    rows,
    actor,
    reason: null,
  };
  await addAct(pool, known, { act: 'arquivamento', ...made });
  return { act: 'arquivamento', ...made };
}

/** Whether files fail to verify while all their rows are still in the database: they are written anew, and the removal can go on. */
async function isSpoilt({ pool, openPlace, month }: Archiving, { act }: MonthAct): Promise<boolean> {
  if (act !== 'arquivamento') return false;
  try {
    await verifyMonth(pool, openPlace, month);
    return false;
  } catch (error) {
    if (error instanceof ArchiveFault) return true;
    throw error;
  }
}

interface Range {
  readonly first: number;
  readonly last: number;
  /** By the database's clock, before any row is read: an erasure that ended later may be missing in the files. */
  readonly at: Date;
}

async function rangeOf(sql: Tx, month: string): Promise<Range> {
  const start = startOfDay(`${month}-01`);
  const end = startOfDay(addMonths(`${month}-01`, 1));
  const [{ at, isOver, first, last }] = await sql<[{ at: Date; isOver: boolean; first: number; last: number }]>`
    select now() as at, now() > ${end}::timestamptz + interval '1 hour' as "isOver",
           coalesce(max(number) filter (where sealed_at < ${start}), 0)::float8 + 1 as first, max(number)::float8 as last
    from seals where sealed_at < ${end}`;
  if (!isOver) throw new ArchiveFault(`${month} is not over yet in São Paulo, or ended less than an hour ago`);
  if (last === null || last < first)
    throw new ArchiveFault(`no seal was made in ${month}: there is nothing to archive`);
  return { first, last, at };
}

async function writeMonth(
  { pool, place, month, signers, onProgress }: Archiving,
  { first, last, at }: Range,
): Promise<{ readonly manifest: Omit<Manifest, 'assinatura'>; readonly digest: Buffer }> {
  const partes: Part[] = [];
  let [rows, most] = [0, PART_SEALS];
  for (let after = first - 1; after < last;) {
    const seals = await nextSeals(pool, after, Math.min(last, after + most));
    const [from, to] = [seals[0] as Seal, seals.at(-1) as Seal];
    const arquivos = await writePart(pool, place, month, partes.length + 1, from, to);
    if (arquivos === null) {
      most = Math.ceil(seals.length / 2);
      continue;
    }
    const part = { selos: { de: from.number, ate: to.number }, arquivos };
    await verifyPart(pool, place, part);
    partes.push(part);
    rows += seals.reduce((sum, seal) => sum + seal.rows, 0);
    onProgress?.(rows);
    after = to.number;
  }
  const manifest = {
    formato: 'carteiro/arquivo/1' as const,
    mes: month,
    selos: { de: first, ate: last, linhas: rows },
    gerado_em: at.toISOString(),
    motivo: null,
    partes,
  };
  return { manifest, digest: await writeManifest(place, manifest, signers) };
}

/** As many as make a part: of one epoch, unless the part is a single seal. */
async function nextSeals(pool: Pool, after: number, last: number): Promise<Seal[]> {
  const seals = await pool.run((sql) => readSeals(sql, after, last - after));
  const epoch = seals[0]?.from.epoch;
  let rows = 0;
  const end = seals.findIndex((seal, index) => {
    rows += seal.rows;
    return index > 0 && (rows > PART_ROWS || seal.end.epoch !== epoch);
  });
  const taken = end < 0 ? seals : seals.slice(0, end);
  if (taken[0]?.number !== after + 1) throw new ArchiveFault(`the log lacks seal ${after + 1}: run audit verify`);
  return taken;
}

/** Null, with nothing written, where their records are too large for one part, and there is more than one seal. */
async function writePart(
  pool: Pool,
  place: Place,
  month: string,
  number: number,
  from: Seal,
  to: Seal,
): Promise<ArchivedFile[] | null> {
  const span = { from: from.from, end: to.end };
  const tables = new TableFiles();
  const isTooLarge = () => tables.bytes > PART_BYTES && to.number > from.number;
  await pool.run(async (sql) => {
    const add = (bytes: Buffer, at: number, end: number) => {
      if (!isTooLarge()) tables.add(bytes.subarray(at, end));
    };
    await readEntries(sql, within(span), 'whole', add, {
      as: (source) => ({ entry: recordOf(source), from: rowsFor(source) }),
    });
    if (isTooLarge()) return;
    // One that arrived by a report outside of the part stays: the attempts in it alone speak against that.
    const ended = sql.unsafe<{ piece: Buffer }[]>(
      `select string_agg(${recordOf('deliveries')}, '') as piece
       from events e join webhooks w on w.partner_id = e.partner_id
       join deliveries t on t.webhook_id = w.id and t.event_id = e.id
       where ${within(span, 'e')} and e.fan_out > 0 and t.status in ('entregue', 'erro')
         and (select count(*) from attempts a
              where a.delivery_id = t.id and a.late and a.outcome = 'entregue' and not (${within(span, 'a')})) = 0
       group by e.position % 512`,
    );
    for await (const pieces of ended.cursor(8)) for (const { piece } of pieces) tables.add(piece);
  });
  if (isTooLarge()) return null;
  const written: ArchivedFile[] = [];
  for (const file of tables.files()) written.push(await writeFile(place, month, number, file));
  return written;
}
