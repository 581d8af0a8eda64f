/**
 * What is read of months whose rows lie in files alone: the leaves of a seal for `audit verify`, and one delivery with its attempts.
 * A delivery is found by the ranges of ids in the manifests, and by the keys of row groups, so a read takes some parts of a file.
 */
import type { ArchivedLeaves } from '../audit/seals/archived-leaves.ts';
import { readSeals } from '../audit/seals/seal-log.ts';
import type { Pool } from '../db/pool.ts';
import type { ArchivedDelivery } from '../delivery/partner/delivery-rows.ts';
import type { FedEvent } from '../log/feed.ts';
import { isRemoved, type MonthAct, readMonths } from './acts.ts';
import { type ArchivedFile, hexOf, type Manifest, mayHold, readManifest } from './manifest.ts';
import { ArchiveFault, type Place } from './place.ts';
import { jsonRow, readLast, readRows, type Row } from './table-file.ts';
import { hashPart, isOfSeal } from './verify-month.ts';

type Sent = FedEvent['deliveries'][number];
type OpenPlace = (name: string) => Place;

/** Manifests never change under their digest, so they are read once. */
export class Archives {
  readonly #pool: Pool;
  readonly #openPlace: OpenPlace;
  readonly #manifests = new Map<string, Promise<Manifest>>();

  constructor(pool: Pool, openPlace: OpenPlace) {
    this.#pool = pool;
    this.#openPlace = openPlace;
  }

  /** Months whose rows may lie in their files alone. */
  async #removed(): Promise<MonthAct[]> {
    return (await this.#pool.run(readMonths)).filter(isRemoved);
  }

  async months(): Promise<string[]> {
    return (await this.#removed()).map(({ month }) => month);
  }

  #manifestOf({ place, month, manifest }: MonthAct): Promise<Manifest> {
    const key = manifest.toString('hex');
    const kept = this.#manifests.get(key);
    if (kept !== undefined) return kept;
    const read = readManifest(this.#openPlace(place), month, manifest);
    this.#manifests.set(key, read);
    read.catch(() => this.#manifests.delete(key));
    return read;
  }

  /** The leaves of a seal in a removed month; null where its rows must be in the database. */
  leaves(): (number: number) => Promise<ArchivedLeaves | null> {
    let removed: Promise<MonthAct[]> | undefined;
    let [from, to, part] = [0, -1, [] as ArchivedLeaves[]];
    return async (number) => {
      if (number >= from && number <= to) return part[number - from] ?? null;
      removed ??= this.#removed();
      const month = (await removed).find(({ firstSeal, lastSeal }) => firstSeal <= number && number <= lastSeal);
      if (month === undefined) return null;
      try {
        const { partes } = await this.#manifestOf(month);
        const found = partes.find(({ selos }) => selos.de <= number && number <= selos.ate);
        if (found === undefined) return { fault: `the manifest of ${month.month} lacks seal ${number}` };
        const place = this.#openPlace(month.place);
        const { de, ate } = found.selos;
        const seals = await this.#pool.run((sql) => readSeals(sql, de - 1, ate - de + 1));
        const [all, attempts] = [await hashPart(place, found, seals), await hashPart(place, found, seals, 'attempts')];
        [from, to] = [de, ate];
        part = seals.map((seal, index): ArchivedLeaves => {
          const [leaves, mayLack] = [all[index], attempts[index]];
          if (leaves === undefined || mayLack === undefined || !isOfSeal(leaves, seal)) {
            return { fault: `the files in ${place.name} do not give seal ${seal.number}` };
          }
          return { leaves, mayLack };
        });
        return part[number - from] ?? null;
      } catch (error) {
        if (error instanceof ArchiveFault) return { fault: error.message };
        throw error;
      }
    };
  }

  /** The rows of a delivery that was removed, as `json_populate_recordset` reads them; null when no file has it. */
  async delivery(id: string): Promise<ArchivedDelivery | null> {
    return this.#deliveries([id.replaceAll('-', '')]);
  }

  /** The same of all deliveries of an event, or of a stream's events, that were removed. */
  async deliveriesOf(column: 'id' | 'stream', value: string): Promise<ArchivedDelivery | null> {
    const removed = await this.#removed();
    if (removed.length === 0) return null;
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

  /** What the feed shows of these events' deliveries that were removed, by the event's id. */
  async sentOf(eventIds: readonly string[]): Promise<Map<string, Sent[]>> {
    const rows = await this.#rowsOf(eventIds, ['id', 'event_id', 'webhook_id', 'status'], await this.#removed());
    const found = rows.map(({ id, event_id: event, webhook_id: webhook, status }) => ({
      event: uuidOf(event),
      sent: { id: uuidOf(id), webhook_id: uuidOf(webhook), status: status as Sent['status'] },
    }));
    const byEvent = Map.groupBy(found, ({ event }) => event);
    return new Map(byEvent.entries().map(([event, all]) => [event, all.map(({ sent }) => sent)]));
  }

  /** The newest removed deliveries whose ids lie from one on and before another, at most so many; null where there is none. */
  async deliveriesBetween(from: string, below: string, most: number): Promise<ArchivedDelivery | null> {
    const [first, end] = [hexOf(from), hexOf(below)];
    const files: { place: Place; file: ArchivedFile }[] = [];
    for (const month of await this.#removed()) {
      const place = this.#openPlace(month.place);
      const all = (await this.#manifestOf(month)).partes.flatMap(({ arquivos }) => arquivos);
      const own = all.filter(({ tabela, de, ate }) => tabela === 'deliveries' && de < end && ate >= first);
      files.push(...own.map((file) => ({ place, file })));
    }
    let found: Row[] = [];
    for (const { place, file } of files.toSorted((one, other) => (one.file.ate < other.file.ate ? 1 : -1))) {
      if (found.length === most && hexOf(found.at(-1)?.['id']) > file.ate) break;
      const bounds = [Buffer.from(first, 'hex'), Buffer.from(end, 'hex')] as const;
      const { oids, rows } = await readLast(rangesOf(place, file), ...bounds, most);
      const all = [...found, ...rows.map((row) => jsonRow('deliveries', oids, row))];
      found = [...new Map(all.map((row) => [row['id'], row])).values()];
      found = found.toSorted((one, other) => (hexOf(one['id']) < hexOf(other['id']) ? 1 : -1)).slice(0, most);
    }
    return found.length === 0 ? null : { deliveries: JSON.stringify(found), attempts: '[]' };
  }

  /** The removed deliveries of these events. */
  async #rowsOf(eventIds: readonly string[], columns: string[], removed: readonly MonthAct[]): Promise<Row[]> {
    const sought = new Set(eventIds.map(hexOf));
    const found: Row[] = [];
    for (const month of removed) {
      const place = this.#openPlace(month.place);
      for (const { arquivos } of (await this.#manifestOf(month)).partes) {
        const [of, deliveries] = ['events', 'deliveries'].map((name) => arquivos.find(({ tabela }) => tabela === name));
        if (of === undefined || deliveries === undefined || !mayHold(of, sought)) continue;
        const { rows } = await readRows(rangesOf(place, deliveries), { columns });
        found.push(...rows.filter((row) => sought.has(hexOf(row['event_id']))));
      }
    }
    return found;
  }

  async #deliveries(ids: readonly string[]): Promise<ArchivedDelivery | null> {
    if (ids.length === 0) return null;
    const found: { deliveries: Row[]; attempts: Row[] } = { deliveries: [], attempts: [] };
    for (const month of await this.#removed()) {
      const place = this.#openPlace(month.place);
      for (const file of (await this.#manifestOf(month)).partes.flatMap(({ arquivos }) => arquivos)) {
        const { tabela: table } = file;
        if (table !== 'deliveries' && table !== 'attempts') continue;
        for (const id of ids.filter((one) => mayHold(file, new Set([one])))) {
          const { oids, rows } = await readRows(rangesOf(place, file), { key: Buffer.from(id, 'hex') });
          found[table].push(...rows.map((row) => jsonRow(table, oids, row)));
        }
      }
    }
    if (found.deliveries.length === 0) return null;
    // A delivery that was brought back, and archived again with its month, is in two of them; the newest is right.
    const deliveries = [...new Map(found.deliveries.map((row) => [row['id'], row])).values()];
    // The files may still have the text of a worker who was forgotten since.
    const erased = await this.#pool.run(
      (sql) => sql<{ id: string }[]>`
        select id from events where id = any (${deliveries.map((row) => row['event_id'] as string)}::uuid[]) and salt is null`,
    );
    const isErased = new Set<unknown>(erased.map(({ id }) => id));
    const attempts = found.attempts.map((row) => (isErased.has(row['event_id']) ? withoutAnswer(row) : row));
    return { deliveries: JSON.stringify(deliveries), attempts: JSON.stringify(attempts) };
  }
}

function uuidOf(id: unknown): string {
  return hexOf(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** An attempt as `worker erase` leaves it; its hash is not read. */
function withoutAnswer(attempt: Row): Row {
  const hadText = attempt['answer'] !== null || attempt['commitment'] !== null;
  return { ...attempt, answer: null, salt: null, commitment: hadText ? '\\x00' : null };
}

function rangesOf(place: Place, { nome, bytes }: ArchivedFile) {
  return {
    byteLength: bytes,
    async slice(from: number, end = bytes): Promise<ArrayBuffer> {
      const start = from < 0 ? bytes + from : from;
      return new Uint8Array(await place.read(nome, start, end)).buffer;
    },
  };
}
