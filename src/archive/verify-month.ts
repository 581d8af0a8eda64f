/** The check of a month's files: each byte against the manifest, each row hashed again, each seal's root made of the rows. */
import { hexOf, type Row } from '../db/binary-record.ts';
import type { Pool } from '../db/pool.ts';
import { LeafCollector, type Leaves } from '../audit/seals/leaves.ts';
import { levelAbove, rootOf } from '../audit/seals/tree/merkle.ts';
import { restLeaf } from '../audit/seals/remains.ts';
import type { LogPoint } from '../audit/seals/rows.ts';
import { readSeals, type Seal } from '../audit/seals/seal-log.ts';
import { faultOf, isRemoved, type MonthAct, readActsOn } from './acts.ts';
import { type Commitments, commitmentOf, commitmentsOf, withDigests } from './commitments.ts';
import { type ArchivedFile, digestOfDeliveries, type Part, readFile, readManifest } from './manifest.ts';
import { ArchiveFault, type Place } from './place.ts';
import { jsonRow, readGroups } from './read-table.ts';
import { entryOf, type TableName } from './table-file.ts';

type OnRow = (table: TableName, row: Row) => void;

/** The streams of these events, in hexadecimal, of which the database may lack events. */
type IsAway = (events: readonly Row[]) => Promise<ReadonlySet<string>>;

/** The hashes of the rows of a part's files, seal by seal: all of them, and with `isAway` those that the database must have; and the deliveries that their attempts speak against. Throws {@link ArchiveFault} where a file is not as the manifest tells. */
export async function hashPart(place: Place, part: Part, seals: readonly Seal[], onRow?: OnRow, isAway?: IsAway) {
  const ends = seals.length === 1 ? [Infinity] : seals.map(({ end }) => end.tx);
  const [all, stay] = [new LeafCollector(ends), new LeafCollector(ends)];
  const commitments = new Map<string, Buffer>();
  const tried = new Map<string, Tried>();
  const strange = new Map<string, string>();
  for (const file of part.arquivos) {
    for await (const { table, oids, rows } of readTable(place, file)) {
      if (table === 'deliveries') {
        for (const row of rows) {
          const column = strangeColumn(row, tried.get(hexOf(row['id'])));
          if (column !== null) strange.set(hexOf(row['id']), column);
        }
        continue;
      }
      const hashes = rows.map((row) => commitmentOf(table, row));
      if (table === 'events')
        for (const [index, row] of rows.entries()) commitments.set(hexOf(row['id']), hashes[index] as Buffer);
      const away = table === 'events' ? await isAway?.(rows) : undefined;
      for (const [index, row] of withDigests(rows, commitments).entries()) {
        if (table === 'attempts') hear(tried, row);
        onRow?.(table, row);
        const entry = entryOf(table, oids, row, hashes[index]);
        all.add(entry);
        const mayLack = table === 'attempts' || away?.has(hexOf(row['stream'])) === true;
        if (isAway !== undefined && !mayLack) stay.add(entry);
      }
    }
  }
  return { all: await all.finish(), stay: await stay.finish(), strange };
}

const SHARED = ['event_id', 'webhook_id', 'partner_id'] as const;

/** What a delivery's attempts say of it: the ids of the first, in hexadecimal, and which of them another one contradicts. */
interface Tried {
  readonly ids: readonly string[];
  readonly differing: Set<string>;
  inTime: number;
  hasArrived: boolean;
}

function hear(tried: Map<string, Tried>, row: Row): void {
  const id = hexOf(row['delivery_id']);
  const ids = SHARED.map((name) => hexOf(row[name] ?? ''));
  const known = tried.get(id) ?? { ids, differing: new Set(), inTime: 0, hasArrived: false };
  for (const [index, name] of SHARED.entries()) if (known.ids[index] !== ids[index]) known.differing.add(name);
  known.inTime += row['late'] === false ? 1 : 0;
  known.hasArrived ||= row['outcome'] === 'entregue';
  tried.set(id, known);
}

/** The column in which a delivery says something else than its attempts do, which are all in its part; null: none. */
function strangeColumn(row: Row, tried: Tried | undefined): string | null {
  if (tried === undefined || tried.inTime !== row['attempts']) return null;
  const isOther = (name: string, index: number) => tried.differing.has(name) || tried.ids[index] !== hexOf(row[name]);
  const wrong = SHARED.find(isOther);
  return wrong ?? ((row['status'] === 'entregue') === tried.hasArrived ? null : 'status');
}

/** Throws {@link ArchiveFault} for the first of them that no order explains: who orders ends a delivery that arrived, or has it fail again. */
async function refuseStrange(pool: Pool, strange: ReadonlyMap<string, string>): Promise<void> {
  const ids = [...strange.keys()];
  const ordered = await pool.run(
    (sql) => sql<{ id: string }[]>`
      select replace(ordered.id::text, '-', '') as id from send_orders o cross join pg_catalog.unnest(o.delivery_ids) ordered (id)
      where o.kind <> 'teste' and ordered.id = any (${ids}::uuid[])`,
  );
  const explained = new Set(ordered.filter(({ id }) => strange.get(id) === 'status').map(({ id }) => id));
  const first = ids.find((id) => !explained.has(id));
  if (first !== undefined)
    throw new ArchiveFault(`the ${strange.get(first)} of delivery ${first} is not what its attempts say`);
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

/** The rows of a file, a group at a time. Throws {@link ArchiveFault} where its bytes are not those that the manifest tells. */
export async function* readTable(place: Place, file: ArchivedFile, columns?: string[]) {
  yield* readGroups(new Uint8Array(await readFile(place, file)).buffer, columns);
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

export function isOfSeal({ hashes, rows }: Leaves, seal: Seal): boolean {
  return rows === seal.rows && rootOf(levelAbove(hashes)).equals(seal.root);
}

/** Throws {@link ArchiveFault} with the first thing that does not fit. */
export async function verifyPart(pool: Pool, place: Place, part: Part, onRow?: OnRow): Promise<void> {
  const { de, ate } = part.selos;
  const seals = await pool.run((sql) => readSeals(sql, de - 1, ate - de + 1));
  const { all: found, strange } = await hashPart(place, part, seals, onRow);
  if (strange.size > 0) await refuseStrange(pool, strange);
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
  const { month } = act;
  const place = openPlace(act.place);
  const { partes } = await readManifest(place, month, act.manifest);
  if (!digestOfDeliveries({ partes }).equals(act.deliveries))
    throw new ArchiveFault(`the manifest of ${month} has other deliveries than its act`);
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
