/** The check of a month's files: each byte against the manifest, each row hashed again, each seal's root made of the rows. */
import { hexOf, type Row } from '../db/binary-record.ts';
import type { Pool } from '../db/pool.ts';
import { hashAt } from '../audit/seals/tree/merkle.ts';
import { restLeaf } from '../audit/seals/remains.ts';
import type { LogPoint } from '../audit/seals/rows.ts';
import { readSeals, type Seal } from '../audit/seals/seal-log.ts';
import { faultOf, isRemoved, type MonthAct, readActsOn } from './acts.ts';
import { type Commitments, commitmentsOf, withDigests } from './commitments.ts';
import { type HashedPart, hashFiles, type PartFile } from './hashing/hash-files.ts';
import { type ArchivedFile, type Part, readFile, readManifest } from './manifest.ts';
import { ArchiveFault } from './archive-fault.ts';
import type { Place } from './place.ts';
import { type CellGroup, jsonRow, readGroups } from './read-table.ts';

/** The streams of these events that may lack events in the database, in hexadecimal. */
type IsAway = (events: readonly Row[]) => Promise<ReadonlySet<string>>;

/** The ends of seals by which {@link hashFiles} parts rows; the last one takes the rest. */
export function endsOf(seals: readonly Seal[]): number[] {
  return seals.length === 1 ? [Infinity] : seals.map(({ end }) => end.tx);
}

export function isOfSeal({ counts, roots }: HashedPart, index: number, seal: Seal): boolean {
  return counts[index] === seal.rows && seal.root.equals(hashAt(roots, index));
}

/** Throws {@link ArchiveFault} if the file's bytes differ from the manifest. */
async function bytesOf(place: Place, file: ArchivedFile): Promise<ArrayBuffer> {
  return new Uint8Array(await readFile(place, file)).buffer;
}

/** The files of a part, each read when it is asked for. */
export async function* filesOf(place: Place, { arquivos }: Part): AsyncGenerator<PartFile> {
  for (const file of arquivos) yield { file, bytes: await bytesOf(place, file) };
}

/** Throws {@link ArchiveFault} for the first row of a part that no order explains. */
export async function refuseUnordered(pool: Pool, { erased, unexpected }: HashedPart): Promise<void> {
  if (erased.length > 0) await refuseErased(pool, erased);
  if (unexpected.size > 0) await refuseUnexpected(pool, unexpected);
}

/** Their texts are not in the files: that takes an order which lists the event. */
async function refuseErased(pool: Pool, ids: readonly string[]): Promise<void> {
  const [event] = await pool.run(
    (sql) => sql<{ id: string }[]>`
      select id from pg_catalog.unnest(${ids as string[]}::uuid[]) id
      where id not in (select pg_catalog.unnest(event_ids) from erasure_pages) limit 1`,
  );
  if (event !== undefined)
    throw new ArchiveFault(
      `the text of event ${event.id}, or of an answer to it, is gone, and no order to erase lists it`,
    );
}

/** Who orders ends a delivery that arrived, or has it fail again. */
async function refuseUnexpected(pool: Pool, unexpected: ReadonlyMap<string, string>): Promise<void> {
  const ids = [...unexpected.keys()];
  const ordered = await pool.run(
    (sql) => sql<{ id: string }[]>`
      select replace(ordered.id::text, '-', '') as id from send_orders o cross join pg_catalog.unnest(o.delivery_ids) ordered (id)
      where o.kind <> 'teste' and ordered.id = any (${ids}::uuid[])`,
  );
  const explained = new Set(ordered.filter(({ id }) => unexpected.get(id) === 'status').map(({ id }) => id));
  const first = ids.find((id) => !explained.has(id));
  if (first !== undefined)
    throw new ArchiveFault(`the ${unexpected.get(first)} of delivery ${first} is not what its attempts say`);
}

/** A part's deliveries or attempts as JSON, a group at a time: whole (attempts with their digests), or only `columns`. */
export async function* readPart(
  place: Place,
  part: Part,
  table: 'deliveries' | 'attempts',
  columns?: string[],
): AsyncGenerator<Row[]> {
  const file = part.arquivos.find(({ tabela }) => tabela === table);
  if (file === undefined) return;
  const hasDigests = table === 'attempts' && columns === undefined;
  const commitments: Commitments = hasDigests ? await readCommitments(place, part) : new Map();
  for await (const { oids, rows } of readTable(place, file, columns))
    yield withDigests(rows, commitments).map((row) => jsonRow(table, oids, row));
}

export async function readCommitments(place: Place, { arquivos }: Part): Promise<Commitments> {
  const commitments = new Map<string, Buffer>();
  const file = arquivos.find(({ tabela }) => tabela === 'events');
  if (file === undefined) return commitments;
  for await (const { rows } of readTable(place, file, ['id', 'salt', 'body', 'commitment']))
    for (const [id, hash] of commitmentsOf(rows)) commitments.set(id, hash);
  return commitments;
}

/** The rows of a file, a group at a time. */
export async function* readTable(place: Place, file: ArchivedFile, columns?: string[]) {
  yield* readGroups(await bytesOf(place, file), columns);
}

/** Where the payload begins in an envelope: no value before it has these characters. */
const DATA = ',"data":';

/** Leaves of what erasing would leave of a seal's events that left the database (audit/seals/remains.ts). */
export async function restsOf(
  place: Place,
  { arquivos }: Part,
  { from, end }: Seal,
  isAway: IsAway,
): Promise<Buffer[]> {
  const file = arquivos.find(({ tabela }) => tabela === 'events');
  if (file === undefined) return [];
  const leaves: Buffer[] = [];
  for await (const { rows } of readTable(place, file, ['id', 'stream', 'epoch', 'tx', 'body'])) {
    const away = await isAway(rows);
    for (const row of rows) {
      const isBehind = ({ epoch, tx }: LogPoint) =>
        Number(row['epoch']) > epoch || (row['epoch'] === epoch && Number(row['tx']) >= tx);
      if (!isBehind(from) || isBehind(end) || !away.has(hexOf(row['stream']))) continue;
      const body = row['body'] as string;
      leaves.push(restLeaf(row['id'] as Uint8Array, body.slice(body.indexOf(DATA) + DATA.length, -1)));
    }
  }
  return leaves;
}

/** Throws {@link ArchiveFault} with the first thing that does not fit. */
export async function verifyPart(
  pool: Pool,
  place: Place,
  part: Part,
  onGroup?: (group: CellGroup) => void,
): Promise<void> {
  const { de, ate } = part.selos;
  const seals = await pool.run((sql) => readSeals(sql, de - 1, ate - de + 1));
  const found = await hashFiles(filesOf(place, part), endsOf(seals), onGroup);
  await refuseUnordered(pool, found);
  for (const [index, seal] of seals.entries()) {
    if (!isOfSeal(found, index, seal)) {
      const rows = `${found.counts[index]} of its ${seal.rows} rows`;
      throw new ArchiveFault(
        `the files of seals ${de} to ${ate} do not give seal ${seal.number}: ${rows} are there, or some are others`,
      );
    }
  }
  if (seals.length !== ate - de + 1) throw new ArchiveFault(`the log lacks some of the seals ${de} to ${ate}`);
}

/** Throws {@link ArchiveFault} unless the month is archived and fits. `texts`: of erased workers, still in the files. */
export async function verifyMonth(
  pool: Pool,
  openPlace: (name: string) => Place,
  month: string,
  onProgress?: (rows: number) => void,
): Promise<MonthAct & { readonly texts: number }> {
  const acts = await pool.run((sql) => readActsOn(sql, month));
  const act = acts.at(-1);
  if (act === undefined) throw new ArchiveFault(`${month} is not archived: archive ${month} --to PLACE does that`);
  const fault = faultOf(acts);
  if (fault !== null)
    throw new ArchiveFault(`${month}: ${fault}; who registered it stands in carteiro_auditoria.arquivos`);
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
  const place = openPlace(act.place);
  const { partes } = await readManifest(place, act);
  const gone = await pool.run((sql) => sql<{ id: string }[]>`select id from events where salt is null`);
  const erased = new Set(gone.map(({ id }) => hexOf(id)));
  let [rows, texts] = [0, 0];
  for (const part of partes) {
    await verifyPart(pool, place, part, ({ table, rows: count, cells }) => {
      const [text, id] = [
        cells.get(table === 'events' ? 'salt' : 'answer'),
        cells.get(table === 'events' ? 'id' : 'event_id'),
      ];
      for (let at = 0; erased.size > 0 && at < count; at += 1) {
        const [start, length] = [id?.starts[at] ?? 0, text?.lengths[at] ?? -1];
        if (length >= 0 && erased.has(id?.bytes.toString('hex', start, start + 16) ?? '')) texts += 1;
      }
    });
    rows += part.arquivos.reduce((sum, { tabela, linhas }) => sum + (tabela === 'deliveries' ? 0 : linhas), 0);
    onProgress?.(rows);
  }
  return { ...act, texts };
}
