/**
 * What is read of months whose rows lie in files alone: the leaves of a seal for `audit verify`, and one delivery with its attempts.
 * A delivery is found by the ranges of ids in the manifests, and by the keys of row groups, so a read takes some parts of a file.
 */
import type { ArchivedLeaves } from '../audit/seals/archived-leaves.ts';
import { readSeals } from '../audit/seals/seal-log.ts';
import type { Pool } from '../db/pool.ts';
import type { ArchivedDelivery } from '../delivery/partner/delivery-rows.ts';
import { isRemoved, type MonthAct, readMonths } from './acts.ts';
import { type ArchivedFile, type Manifest, readManifest } from './manifest.ts';
import { ArchiveFault, type Place } from './place.ts';
import { jsonRow, readRows, type Row } from './table-file.ts';
import { hashPart, isOfSeal } from './verify-month.ts';

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
    const key = Buffer.from(id.replaceAll('-', ''), 'hex');
    const found: { deliveries: Row[]; attempts: Row[] } = { deliveries: [], attempts: [] };
    for (const month of await this.#removed()) {
      const place = this.#openPlace(month.place);
      for (const file of (await this.#manifestOf(month)).partes.flatMap(({ arquivos }) => arquivos)) {
        if (file.tabela !== 'deliveries' && file.tabela !== 'attempts') continue;
        const hex = key.toString('hex');
        if (file.de > hex || file.ate < hex) continue;
        const { oids, rows } = await readRows(rangesOf(place, file), key);
        found[file.tabela].push(...rows.map((row) => jsonRow(file.tabela, oids, row)));
      }
    }
    const delivery = found.deliveries.at(-1);
    if (delivery === undefined) return null;
    // The files may still have the text of a worker who was forgotten since.
    const [event] = await this.#pool.run(
      (sql) => sql`select from events where id = ${delivery['event_id'] as string}::uuid and salt is null`,
    );
    const attempts = event === undefined ? found.attempts : found.attempts.map(withoutText);
    return { deliveries: JSON.stringify([delivery]), attempts: JSON.stringify(attempts) };
  }
}

/** An attempt as `worker erase` leaves it; its hash is not read. */
function withoutText(attempt: Row): Row {
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
