/**
 * Reads of months whose rows are only in files: a seal's leaves, a delivery with its attempts, a loan's events, which are put
 * back. The manifests' ranges of ids and the row groups' keys lead to a delivery, so a read parses few parts of a file.
 */
import { hexOf, type Row, uuidOf } from '../db/binary-record.ts';
import { placeOf } from '../audit/lists/place.ts';
import type { Range, Removed } from '../audit/lists/kind.ts';
import type { ArchivedSeals } from '../audit/seals/archived-leaves.ts';
import { sightOf } from '../audit/seals/rows.ts';
import type { Pool } from '../db/pool.ts';
import type { ArchivedDelivery } from '../delivery/partner/delivery-rows.ts';
import type { FedEvent, FeedCursor } from '../log/feed.ts';
import { faultOf, isRemoved, type MonthAct, readActsOn, readMonths } from './acts.ts';
import { ArchiveFault } from './archive-fault.ts';
import { bringBack, bringBackOf, mendAway } from './bring-back.ts';
import { commitmentsOf, lacksDigest, withDigests } from './commitments.ts';
import { type ArchivedFile, type Manifest, mayHold, type Part, readManifest } from './manifest.ts';
import type { Place } from './place.ts';
import { jsonRow, placeOfRow, readBetween, readRows } from './read-table.ts';
import { sealsOf } from './seal-leaves.ts';
import { WholeFiles } from './whole-files.ts';

type Sent = FedEvent['deliveries'][number];
type OpenPlace = (name: string) => Place;
type LogPlace = Pick<FeedCursor, 'epoch' | 'tx'>;

/** The files, of one part each, in which one page of a filter's attempts is looked for. */
const FILES = 4;

export type ArchiveReads = Pick<
  Archives,
  'delivery' | 'deliveriesOf' | 'between' | 'sentOf' | 'months' | 'seals' | 'bringBack' | 'mend' | 'leftAfter'
>;

/** Manifests never change under their digest, so they are read once. */
export class Archives {
  readonly #pool: Pool;
  readonly #openPlace: OpenPlace;
  readonly #manifests = new Map<string, Promise<Manifest>>();
  readonly #whole = new WholeFiles();

  constructor(pool: Pool, openPlace: OpenPlace) {
    this.#pool = pool;
    this.#openPlace = openPlace;
  }

  async #removed(): Promise<MonthAct[]> {
    return (await this.#pool.run(readMonths)).filter(isRemoved);
  }

  async months(): Promise<string[]> {
    return (await this.#removed()).map(({ month }) => month);
  }

  #manifestOf(act: MonthAct): Promise<Manifest> {
    const { manifest, deliveries, firstSeal, lastSeal } = act;
    const key = [manifest.toString('hex'), deliveries.toString('hex'), firstSeal, lastSeal].join(' ');
    const kept = this.#manifests.get(key);
    if (kept !== undefined) return kept;
    const read = readManifest(this.#openPlace(act.place), act);
    this.#manifests.set(key, read);
    read.catch(() => this.#manifests.delete(key));
    return read;
  }

  /** Of removed months. */
  seals(): ArchivedSeals {
    return sealsOf(this.#pool, this.#openPlace, {
      removed: async () => this.#removed(),
      partsOf: async (act) => {
        const fault = faultOf(await this.#pool.run((sql) => readActsOn(sql, act.month)));
        if (fault !== null) throw new ArchiveFault(`${act.month}: ${fault}`);
        return (await this.#manifestOf(act)).partes;
      },
    });
  }

  /** The rows of a delivery that was removed, as `json_populate_recordset` reads them; null when no file has it. */
  async delivery(id: string): Promise<ArchivedDelivery | null> {
    return this.#deliveries([hexOf(id)]);
  }

  /** Brings back the history of a loan, named by its id or by an event's; false if it was not away (bring-back.ts). */
  async bringBack(column: 'id' | 'stream', value: string): Promise<boolean> {
    return (column === 'id' ? bringBackOf : bringBack)(this.#pool, this.events, value);
  }

  readonly mend = async (error: unknown): Promise<boolean> => mendAway(this.#pool, this.events, error);

  readonly events = async (ids: readonly string[]): Promise<Row[]> => {
    const keys = new Set(ids.map(hexOf));
    const found: Row[] = [];
    for (const { place, file } of await this.#files('events', await this.#pool.run(readMonths))) {
      if (!mayHold(file, keys)) continue;
      const { oids, rows } = await this.#whole.read(place, file, (bytes) => readRows(bytes, { keys }));
      found.push(...rows.map((row) => jsonRow('events', oids, row)));
    }
    return found;
  };

  /** The months whose events left and that end after this place in the log. */
  async leftAfter({ epoch, tx }: LogPlace): Promise<string[]> {
    const found = await this.#pool.run(
      (sql) => sql<{ month: string }[]>`
        select month from (select distinct on (month) month, last_seal from archive_acts order by month, position desc) newest
        join seals s on s.number = last_seal
        where exists (select from loans where away_digest is not null) and (s.end_epoch, s.end_tx) > (${epoch}::text::smallint, ${tx}::text::bigint)
        order by month`,
    );
    return found.map(({ month }) => month);
  }

  /** As `delivery`, of all removed deliveries of an event, or of a stream's events. */
  async deliveriesOf(column: 'id' | 'stream', value: string): Promise<ArchivedDelivery | null> {
    const removed = await this.#removed();
    if (removed.length === 0) return null;
    await this.bringBack(column, value);
    const events = await this.#pool.run(
      (sql) => sql<{ id: string }[]>`select id from events where ${sql(column)} = ${value}::uuid`,
    );
    const found = await this.#rowsOf(
      events.map(({ id }) => id),
      ['id', 'event_id'],
      removed,
    );
    return this.#deliveries(found.map((row) => hexOf(row['id'])));
  }

  /** The removed deliveries of these events as the feed shows them, by the event's id. */
  async sentOf(eventIds: readonly string[]): Promise<Map<string, Sent[]>> {
    const rows = await this.#rowsOf(eventIds, ['id', 'event_id', 'webhook_id', 'status'], await this.#removed());
    const found = rows.map(({ id, event_id: event, webhook_id: webhook, status }) => ({
      event: uuidOf(event),
      sent: { id: uuidOf(id), webhook_id: uuidOf(webhook), status: status as Sent['status'] },
    }));
    const byEvent = Map.groupBy(found, ({ event }) => event);
    return new Map(byEvent.entries().map(([event, all]) => [event, all.map(({ sent }) => sent)]));
  }

  /** See {@link Removed}; deliveries come without their attempts, and attempts without their digests. */
  async between(table: 'attempts' | 'deliveries', range: Range): ReturnType<Removed['between']> {
    const { from, below, isNewestFirst, most } = range;
    const edges = ({ registradas: times, de, ate }: ArchivedFile) =>
      table === 'deliveries' ? [de, ate] : [placeOf([times.de ?? '']), placeOf([times.ate ?? ''])];
    const near = (file: ArchivedFile) => edges(file)[isNewestFirst ? 1 : 0] as string;
    const all = (await this.#files(table)).filter(({ file }) => {
      const [first = '', last = ''] = edges(file);
      return first < below && last >= from.slice(0, last.length);
    });
    const files = all.toSorted((one, other) => (near(one.file) < near(other.file) === isNewestFirst ? 1 : -1));
    const keyOf = (row: Row) => placeOfRow(table, [], row);
    let found: Row[] = [];
    let stoppedAt: string | null = null;
    for (const [index, { place, file }] of files.entries()) {
      const last = found.length < most ? undefined : keyOf(found.at(-1) as Row);
      if (last !== undefined && (isNewestFirst ? last.slice(0, near(file).length) > near(file) : last < near(file)))
        break;
      if (index >= FILES && table === 'attempts') {
        stoppedAt = (isNewestFirst ? file.registradas.ate : file.registradas.de) as string;
        break;
      }
      const { oids, rows } = await this.#whole.read(place, file, (bytes) => readBetween(bytes, range));
      const both = [...found, ...rows.map((row) => jsonRow(table, oids, row))];
      const sorted = both.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
      found = (isNewestFirst ? sorted.toReversed() : sorted).slice(0, most);
    }
    if (found.length === 0 && stoppedAt === null) return null;
    const rows = { deliveries: '[]', attempts: '[]', [table]: JSON.stringify(await this.#withoutErased(found)) };
    return { rows, stoppedAt };
  }

  /** The files of a table of removed months, or of these. */
  async #files(table: ArchivedFile['tabela'], months?: readonly MonthAct[]) {
    const found = (months ?? (await this.#removed())).map(async (month) => {
      const place = this.#openPlace(month.place);
      const files = (await this.#manifestOf(month)).partes.flatMap((part) =>
        part.arquivos.map((file) => ({ place, part, file })),
      );
      return files.filter(({ file }) => file.tabela === table);
    });
    return (await Promise.all(found)).flat();
  }

  async #rowsOf(eventIds: readonly string[], columns: string[], removed: readonly MonthAct[]): Promise<Row[]> {
    const sought = new Set(eventIds.map(hexOf));
    const found: Row[] = [];
    for (const month of removed) {
      const place = this.#openPlace(month.place);
      for (const { arquivos } of (await this.#manifestOf(month)).partes) {
        const [of, deliveries] = ['events', 'deliveries'].map((name) => arquivos.find(({ tabela }) => tabela === name));
        if (of === undefined || deliveries === undefined || !mayHold(of, sought)) continue;
        const { rows } = await this.#whole.read(place, deliveries, (bytes) => readRows(bytes, { columns }));
        found.push(...rows.filter((row) => sought.has(hexOf(row['event_id']))));
      }
    }
    return found;
  }

  async #deliveries(ids: readonly string[]): Promise<ArchivedDelivery | null> {
    if (ids.length === 0) return null;
    const rowsOf = async (table: 'deliveries' | 'attempts') => {
      const found: Row[] = [];
      for (const { place, part, file } of await this.#files(table)) {
        for (const id of ids.filter((one) => mayHold(file, new Set([one])))) {
          const { oids, rows } = await this.#whole.read(place, file, (bytes) =>
            readRows(bytes, { keys: new Set([id]) }),
          );
          found.push(...(await this.#withDigests(place, part, rows)).map((row) => jsonRow(table, oids, row)));
        }
      }
      return found;
    };
    const deliveries = await rowsOf('deliveries');
    if (deliveries.length === 0) return null;
    for (const event of new Set(deliveries.map((row) => row['event_id'] as string))) await this.bringBack('id', event);
    const attempts = await this.#withoutErased(await rowsOf('attempts'));
    return { deliveries: JSON.stringify(deliveries), attempts: JSON.stringify(attempts) };
  }

  /** Attempts with their digests, those of their events, which are looked up one by one. */
  async #withDigests(place: Place, { arquivos }: Part, rows: readonly Row[]): Promise<Row[]> {
    const file = arquivos.find(({ tabela }) => tabela === 'events');
    const ids = new Set(rows.filter(lacksDigest).map((row) => hexOf(row['event_id'])));
    if (file === undefined || ids.size === 0) return [...rows];
    const events = await this.#whole.read(place, file, (bytes) => readRows(bytes, { keys: ids }));
    return withDigests(rows, commitmentsOf(events.rows));
  }

  /** The rows, without the answers of a worker who was forgotten since: the files may still have these. */
  async #withoutErased(rows: readonly Row[]): Promise<Row[]> {
    const ids = rows.map((row) => row['event_id'] as string);
    const erased = await this.#pool.run(async (sql) => {
      const isWhole = (await sightOf(sql)) === 'whole';
      const where = isWhole ? sql`events where salt is null` : sql`events_as_sealed where is_erased`;
      return sql<{ id: string }[]>`select id from ${where} and id = any (${ids}::uuid[])`;
    });
    const isErased = new Set<unknown>(erased.map(({ id }) => id));
    return rows.map((row) => ('answer' in row && isErased.has(row['event_id']) ? withoutAnswer(row) : row));
  }
}

/** An attempt as `worker erase` leaves it; its hash is not read. */
function withoutAnswer(attempt: Row): Row {
  const hadText = attempt['answer'] !== null || attempt['commitment'] !== null;
  return { ...attempt, answer: null, salt: null, commitment: hadText ? '\\x00' : null };
}
