/** The check of a month's files: each byte against the manifest, each row hashed again, each seal's root made of the rows. */
import type { Pool } from '../db/pool.ts';
import { FRAMES } from '../db/sealed-rows.ts';
import { LeafCollector, type Leaves } from '../audit/seals/leaves.ts';
import { levelAbove, rootOf } from '../audit/seals/tree/merkle.ts';
import { readSeals, type Seal } from '../audit/seals/seal-log.ts';
import { isRemoved, type MonthAct, readMonth } from './acts.ts';
import type { Row } from './cells.ts';
import { type Commitments, commitmentsOf, hexOf, lacksDigest, withDigests } from './commitments.ts';
import { type ArchivedFile, type Part, readFile, readManifest } from './manifest.ts';
import { ArchiveFault, type Place } from './place.ts';
import { jsonRow, readRows } from './read-table.ts';
import { entryOf, type TableName } from './table-file.ts';

/** Hears each row of events and attempts. */
type OnRow = (table: TableName, row: Row) => void;

/** The hashes of the rows of a part's files, seal by seal: all of them, and the attempts alone. Throws {@link ArchiveFault} where a file is not as the manifest tells. */
export async function hashPart(place: Place, part: Part, seals: readonly Seal[], onRow?: OnRow) {
  const ends = seals.length === 1 ? [Infinity] : seals.map(({ end }) => end.tx);
  const [all, attempts] = [new LeafCollector(ends), new LeafCollector(ends)];
  let commitments: Commitments = new Map();
  for (const file of part.arquivos) {
    const { table, oids, rows } = await readTable(place, file);
    if (table === 'deliveries') continue;
    if (table === 'events') commitments = commitmentsOf(rows);
    for (const row of withDigests(rows, commitments)) {
      onRow?.(table, row);
      const entry = Buffer.concat([Buffer.of(FRAMES.whole), entryOf(table, oids, row)]);
      for (const collector of table === 'attempts' ? [all, attempts] : [all]) collector.add(entry);
    }
  }
  return { all: await all.finish(), attempts: await attempts.finish() };
}

/** The rows of a part's deliveries or of its attempts, these with their digests, as JSON has them. */
export async function readPart(place: Place, { arquivos }: Part, table: 'deliveries' | 'attempts'): Promise<Row[]> {
  const rowsOf = async (name: TableName) => {
    const file = arquivos.find(({ tabela }) => tabela === name);
    return file === undefined ? { oids: [], rows: [] } : readTable(place, file);
  };
  const { oids, rows } = await rowsOf(table);
  const events = table === 'attempts' && rows.some(lacksDigest) ? (await rowsOf('events')).rows : [];
  return withDigests(rows, commitmentsOf(events)).map((row) => jsonRow(table, oids, row));
}

/** The rows of a file, which is read whole. Throws {@link ArchiveFault} where its bytes are not those that the manifest tells. */
export async function readTable(place: Place, file: ArchivedFile) {
  return readRows(new Uint8Array(await readFile(place, file)).buffer);
}

/** True where these are the rows that were sealed. */
export function isOfSeal({ hashes, rows }: Leaves, seal: Seal): boolean {
  return rows === seal.rows && rootOf(levelAbove(hashes)).equals(seal.root);
}

/** Throws {@link ArchiveFault} with the first thing that does not fit. */
export async function verifyPart(pool: Pool, place: Place, part: Part, onRow?: OnRow): Promise<void> {
  const { de, ate } = part.selos;
  const seals = await pool.run((sql) => readSeals(sql, de - 1, ate - de + 1));
  const { all: found } = await hashPart(place, part, seals, onRow);
  for (const [index, seal] of seals.entries()) {
    if (!isOfSeal(found[index] as Leaves, seal)) {
      const rows = `${found[index]?.rows} of its ${seal.rows} rows`;
      throw new ArchiveFault(
        `the files of seals ${de} to ${ate} do not give seal ${seal.number}: ${rows} are there, or some are others`,
      );
    }
  }
  if (seals.length !== ate - de + 1) throw new ArchiveFault(`the log lacks some of the seals ${de} to ${ate}`);
}

/**
 * Throws {@link ArchiveFault} where the month is not archived, or with the first thing that does not fit. `texts`: of workers who
 * were erased, and which `maintain` has not taken out of the files.
 */
export async function verifyMonth(
  pool: Pool,
  openPlace: (name: string) => Place,
  month: string,
  onProgress?: (rows: number) => void,
): Promise<MonthAct & { readonly texts: number }> {
  const act = await pool.run((sql) => readMonth(sql, month));
  if (act === null) throw new ArchiveFault(`${month} is not archived: archive ${month} --to PLACE does that`);
  try {
    return await verifyAct(pool, openPlace, act, onProgress);
  } catch (error) {
    if (!(error instanceof ArchiveFault)) throw error;
    const next = isRemoved(act)
      ? 'put a copy of what was archived in its place, and run it again'
      : `its rows are in the database: where the files are lost, archive ${month} --to PLACE writes them anew`;
    throw new ArchiveFault(`${error.message}; ${next}`, { cause: error.cause });
  }
}

async function verifyAct(
  pool: Pool,
  openPlace: (name: string) => Place,
  act: MonthAct,
  onProgress?: (rows: number) => void,
): Promise<MonthAct & { readonly texts: number }> {
  const { month } = act;
  const place = openPlace(act.place);
  const { partes } = await readManifest(place, month, act.manifest);
  const gone = await pool.run((sql) => sql<{ id: string }[]>`select id from events where salt is null`);
  const erased = new Set(gone.map(({ id }) => hexOf(id)));
  let [rows, next, texts] = [0, act.firstSeal, 0];
  for (const part of partes) {
    if (part.selos.de !== next) throw new ArchiveFault(`the manifest of ${month} lacks seal ${next}`);
    next = part.selos.ate + 1;
    await verifyPart(pool, place, part, (table, row) => {
      const isEvent = table === 'events';
      const hasText = row[isEvent ? 'salt' : 'answer'] != null;
      if (hasText && erased.has(hexOf(row[isEvent ? 'id' : 'event_id']))) texts += 1;
    });
    rows += part.arquivos.reduce((sum, { tabela, linhas }) => sum + (tabela === 'deliveries' ? 0 : linhas), 0);
    onProgress?.(rows);
  }
  if (next !== act.lastSeal + 1) throw new ArchiveFault(`the manifest of ${month} lacks seal ${next}`);
  return { ...act, texts };
}
