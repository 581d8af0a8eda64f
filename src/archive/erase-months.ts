/**
 * Writes an archived month's files again, without the texts of a worker who was forgotten later.
 * Invariant: a month's newest act names a manifest whose files are all there and verified: new files and manifest, then the act,
 * then the files that the manifest does not name go. An erased row keeps its salted hash, so each seal's root stays.
 * Crash: before the act, the next run writes the files again; after it, it removes the files that only an older manifest names.
 * Each erasure order is applied once to each month archived before it finished. An event's attempts lie in its month or later; the
 * ids of its deliveries find them.
 */
import { hexOf, type Row } from '../db/binary-record.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { addAct, type MonthAct, newestOf, readActs } from './acts.ts';
import {
  type ArchivedFile,
  type Keys,
  type Manifest,
  manifestName,
  mayHold,
  type Part,
  readManifest,
  writeFile,
  writeManifest,
} from './manifest.ts';
import { ArchiveFault } from './archive-fault.ts';
import type { Place } from './place.ts';
import { type TableFile, TableFiles, withoutText } from './table-file.ts';
import { readTable, verifyPart } from './verify-month.ts';
import type { Archiving } from './write-month.ts';

type Erasing = Pick<Archiving, 'pool' | 'openPlace' | 'signers' | 'actor'>;

interface Month {
  readonly act: MonthAct;
  readonly place: Place;
  readonly manifest: Manifest;
  readonly orders: readonly Order[];
}

interface Order {
  readonly id: string;
  readonly doneAt: Date;
  /** The newest act when it was last looked for; 0: it was not. */
  readonly lookedTo: number;
  readonly eventIds: readonly string[];
}

/** Writes files with texts of finished orders again. Returns the months. Throws {@link ArchiveFault} if files were changed: they stay. */
export async function eraseInMonths(erasing: Erasing): Promise<string[]> {
  const { pool, openPlace } = erasing;
  const written: string[] = [];
  const acts = await pool.run(readActs);
  const newest = acts.at(-1)?.position;
  if (newest === undefined) return written;
  const orders = await pool.run(readOrders);
  const months: Month[] = [];
  for (const act of newestOf(acts)) {
    const place = openPlace(act.place);
    const manifest = await readManifest(place, act);
    await removeOlder(acts, act, place, manifest);
    const since = new Date(manifest.gerado_em);
    const written = acts.find(({ manifest: digest }) => digest.equals(act.manifest))?.position ?? 0;
    // One that nobody looked for yet may have been done before these files were written, and not be in them.
    const isSought = ({ doneAt, lookedTo }: Order) => (doneAt >= since || lookedTo === 0) && lookedTo < written;
    months.push({ act, place, manifest, orders: orders.filter(isSought) });
  }
  const sought = keysOf(months.flatMap((month) => month.orders));
  if (sought.size > 0) {
    const deliveries = await deliveriesOf(pool, months, sought);
    for (const month of months) if (await eraseInMonth(erasing, month, deliveries)) written.push(month.act.month);
  }
  await keepCheck(pool, orders, newest);
  return written;
}

async function readOrders(sql: Tx): Promise<Order[]> {
  return sql<Order[]>`
    select w.order_id as id, w.done_at as "doneAt", coalesce(w.looked_to, 0)::float8 as "lookedTo", array_agg(event_id) as "eventIds"
    from erasures w join erasure_pages p on p.order_id = w.order_id cross join lateral unnest(p.event_ids) event_id
    where w.done_at is not null
    group by w.order_id order by w.order_id`;
}

/** Files never change under their manifest, so an order is looked for once in each; a month that is written later has a later act. */
async function keepCheck(pool: Pool, orders: readonly Order[], newest: number): Promise<void> {
  const ids = orders.filter(({ lookedTo }) => lookedTo < newest).map(({ id }) => id);
  if (ids.length > 0)
    await pool.run((sql) => sql`update erasures set looked_to = ${newest} where order_id = any (${ids}::uuid[])`);
}

const keysOf = (orders: readonly Order[]): Keys => new Set(orders.flatMap(({ eventIds }) => eventIds.map(hexOf)));

/** The deliveries of these events, wherever they are. If they are only in files, the answers in later attempts are erased here. */
async function deliveriesOf(pool: Pool, months: readonly Month[], sought: Keys): Promise<Keys> {
  const archived: string[] = [];
  for (const { place, manifest } of months) {
    for (const { arquivos } of manifest.partes) {
      const events = arquivos.find(({ tabela }) => tabela === 'events');
      const deliveries = arquivos.find(({ tabela }) => tabela === 'deliveries');
      if (events === undefined || deliveries === undefined || !mayHold(events, sought)) continue;
      for await (const { rows } of readTable(place, deliveries, ['id', 'event_id']))
        for (const row of rows) if (sought.has(hexOf(row['event_id']))) archived.push(hexOf(row['id']));
    }
  }
  await pool.run((sql) => sql`select erase_orphaned_attempts(${archived}::uuid[])`);
  const kept = await pool.run(
    (sql) => sql<{ id: string }[]>`
      select d.id
      from events e join webhooks w on w.partner_id = e.partner_id join deliveries d on d.webhook_id = w.id and d.event_id = e.id
      where e.id = any (${[...sought]}::uuid[])`,
  );
  return new Set([...archived, ...kept.map(({ id }) => hexOf(id))]);
}

async function eraseInMonth(
  erasing: Erasing,
  { act, place, manifest, orders }: Month,
  deliveries: Keys,
): Promise<boolean> {
  const { pool, signers, actor } = erasing;
  const events = keysOf(orders);
  if (events.size === 0) return false;
  const [{ now }] = await pool.run((sql) => sql<[{ now: Date }]>`select now()`);
  const partes: Part[] = [];
  for (const [index, part] of manifest.partes.entries()) {
    const arquivos = await eraseInPart(place, act.month, index + 1, part, { events, attempts: deliveries });
    const isSame = arquivos.every((file, at) => file === part.arquivos[at]);
    partes.push(isSame ? part : { ...part, arquivos });
    if (!isSame) await verifyPart(pool, place, { ...part, arquivos });
  }
  if (partes.every((part, index) => part === manifest.partes[index])) return false;
  const reason = `apagamento ${orders.map(({ id }) => id).join(', ')}`;
  const { assinatura: _, ...before } = manifest;
  const after = { ...before, gerado_em: now.toISOString(), motivo: reason, partes };
  const digest = await writeManifest(place, after, signers);
  const made = { ...act, manifest: digest };
  await addAct(pool, act, { ...made, actor, reason });
  await removeOlder([act], made, place, after);
  return true;
}

async function eraseInPart(
  place: Place,
  month: string,
  number: number,
  { arquivos }: Part,
  keys: { readonly events: Keys; readonly attempts: Keys },
): Promise<ArchivedFile[]> {
  const written: ArchivedFile[] = [];
  for (const file of arquivos) {
    const { tabela } = file;
    const erased = await (tabela === 'events' || tabela === 'attempts'
      ? withoutTexts(place, file, keys[tabela])
      : null);
    written.push(erased === null ? file : await writeFile(place, month, number, erased));
  }
  return written;
}

/** The file without the texts of these keys; null if it has none of them. */
async function withoutTexts(place: Place, file: ArchivedFile, keys: Keys): Promise<TableFile | null> {
  if (!mayHold(file, keys)) return null;
  const files = new TableFiles();
  let isAny = false;
  for await (const { table, oids, rows } of readTable(place, file)) {
    const isErased = (row: Row) =>
      row['salt'] != null && keys.has(hexOf(row[table === 'events' ? 'id' : 'delivery_id']));
    isAny ||= rows.some(isErased);
    files.put(
      table,
      oids,
      rows.map((row) => (isErased(row) ? withoutText(table, row) : row)),
    );
  }
  return isAny ? (files.files()[0] ?? null) : null;
}

/**
 * Removes what only older manifests of the month have. `acts` were read before: read now, they may have a newer one of another run.
 * A manifest that is not there was dealt with.
 */
async function removeOlder(
  acts: readonly MonthAct[],
  { month, manifest: newest }: MonthAct,
  place: Place,
  { partes }: Pick<Manifest, 'partes'>,
) {
  const kept = new Set(partes.flatMap(({ arquivos }) => arquivos.map(({ nome }) => nome)));
  const older = acts.filter((act) => act.month === month && act.place === place.name && !act.manifest.equals(newest));
  for (const act of new Map(older.map((one) => [one.manifest.toString('hex'), one])).values()) {
    const found = await readManifest(place, act).catch((error: unknown) => {
      if (error instanceof ArchiveFault) return null;
      throw error;
    });
    if (found === null) continue;
    const names = found.partes.flatMap(({ arquivos }) => arquivos.map(({ nome }) => nome));
    for (const name of names) if (!kept.has(name)) await place.remove(name);
    await place.remove(manifestName(month, act.manifest));
  }
}
