/** The leaves of seals whose rows lie in the files of their months, for `audit verify`: a part at a time, and the next parts ahead. */
import { isDeepStrictEqual } from 'node:util';
import type { Row } from '../db/binary-record.ts';
import type { ArchivedLeaves, ArchivedSeals } from '../audit/seals/archived-leaves.ts';
import { readSeals, type Seal } from '../audit/seals/seal-log.ts';
import { HASH_BYTES } from '../audit/seals/tree/merkle.ts';
import type { Pool } from '../db/pool.ts';
import type { MonthAct } from './acts.ts';
import { awayAmong, awayOf } from './bring-back.ts';
import { type HashedPart, KINDS } from './hashing/hash-files.ts';
import { HashThreads, THREADS } from './hashing/hash-threads.ts';
import type { Part } from './manifest.ts';
import { ArchiveFault } from './archive-fault.ts';
import type { Place } from './place.ts';
import { endsOf, filesOf, isOfSeal, refuseUnordered, restsOf } from './verify-month.ts';

interface Months {
  /** Those whose rows may be only in their files. */
  readonly removed: () => Promise<MonthAct[]>;
  /** One has each seal of the act. */
  readonly partsOf: (month: MonthAct) => Promise<readonly Part[]>;
}

interface Found {
  readonly place: Place;
  readonly part: Part;
}

export function sealsOf(pool: Pool, openPlace: (name: string) => Place, { removed, partsOf }: Months): ArchivedSeals {
  const threads = new HashThreads();
  const begun = new Map<Part, Promise<LeavesOf>>();
  let months: Promise<MonthAct[]> | undefined;
  let last: Found | null = null;

  /** Null where the seal's rows must be in the database. */
  async function find(number: number): Promise<Found | null> {
    const isIn = (span: { de: number; ate: number }) => span.de <= number && number <= span.ate;
    if (last !== null && isIn(last.part.selos)) return last;
    const monthIn = (all: readonly MonthAct[]) => all.find((one) => isIn({ de: one.firstSeal, ate: one.lastSeal }));
    // A month may be removed while the log is read.
    const month = monthIn(await (months ??= removed())) ?? monthIn(await (months = removed()));
    if (month === undefined) return null;
    const part = (await partsOf(month)).find(({ selos }) => isIn(selos)) as Part;
    return { place: openPlace(month.place), part };
  }

  function begunOf(found: Found): Promise<LeavesOf> {
    const known = begun.get(found.part);
    if (known !== undefined) return known;
    const made = begin(pool, threads, found);
    // It is awaited when its seals are asked for.
    made.catch(() => undefined);
    begun.set(found.part, made);
    return made;
  }

  async function beginAhead(found: Found): Promise<void> {
    for (const part of begun.keys()) if (part.selos.ate < found.part.selos.de) begun.delete(part);
    for (let [next, ahead]: [Found | null, number] = [found, 0]; next !== null && ahead <= THREADS; ahead += 1) {
      void begunOf(next);
      next = await find(next.part.selos.ate + 1).catch(() => null);
    }
    last = found;
  }

  /** A month that was written anew meanwhile, as after an erasure, is read anew: its older files are gone. */
  const reached = async <T>(read: () => Promise<T>): Promise<T | { readonly fault: string }> => {
    const known = (months ??= removed());
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ArchiveFault)) throw error;
      const now = await removed();
      if (isDeepStrictEqual(now, await known)) return { fault: error.message };
      [months, last] = [Promise.resolve(now), null];
      begun.clear();
      return reached(read);
    }
  };
  return {
    leaves: async (number) =>
      reached(async () => {
        const found = await find(number);
        if (found === null) return null;
        if (found !== last) await beginAhead(found);
        return (await begunOf(found))(number);
      }),
    rests: async (number) => {
      const isAway = async (rows: readonly Row[]) => awayOf(pool, rows);
      const rests = await reached(async () => {
        const [found, [seal]] = [await find(number), await pool.run((sql) => readSeals(sql, number - 1, 1))];
        return found === null || seal === undefined ? null : restsOf(found.place, found.part, seal, isAway);
      });
      return Array.isArray(rests) ? rests : null;
    },
    close: async () => threads.close(),
  };
}

type LeavesOf = (number: number) => ArchivedLeaves;

async function begin(pool: Pool, threads: HashThreads, { place, part }: Found): Promise<LeavesOf> {
  const { de, ate } = part.selos;
  const seals = await pool.run((sql) => readSeals(sql, de - 1, ate - de + 1));
  const hashed = await threads.hash(async () => Array.fromAsync(filesOf(place, part)), endsOf(seals));
  await refuseUnordered(pool, hashed);
  return leavesOf(pool, place, seals, hashed);
}

function leavesOf(pool: Pool, place: Place, seals: readonly Seal[], hashed: HashedPart): LeavesOf {
  const { counts, hashes, kinds, streams } = hashed;
  const streamAt = (place: number) => streams.toString('hex', place * 16, (place + 1) * 16);
  /** Streams that may lack events in the database, by their places: those of the part, when one is asked for first. */
  let away: Set<number> | undefined;
  const askFor = async (places: readonly number[]): Promise<number[]> => {
    const found = await awayAmong(pool, places.map(streamAt));
    return places.filter((one) => found.has(streamAt(one)));
  };
  const firsts = [0];
  for (const count of counts) firsts.push((firsts.at(-1) ?? 0) + count);
  return (number) => {
    const index = number - (seals[0]?.number ?? 0);
    const seal = seals[index];
    const [first, end] = [firsts[index] ?? 0, firsts[index + 1] ?? 0];
    if (seal?.number !== number || !isOfSeal(hashed, index, seal))
      return { fault: `the files in ${place.name} do not give seal ${number}` };
    return {
      leaves: { hashes: hashes.subarray(first * HASH_BYTES, end * HASH_BYTES), rows: seal.rows },
      async mayLack(rows) {
        const lacking = rows.map((row) => kinds[first + row] ?? KINDS.stays);
        if (lacking.includes(KINDS.stays)) return false;
        away ??= new Set(await askFor(Array.from({ length: streams.length / 16 }, (_, one) => one)));
        // A loan may have left since.
        const others = [...new Set(lacking)].filter((kind) => kind >= 0 && away?.has(kind) !== true);
        for (const one of others.length > 0 ? await askFor(others) : []) away.add(one);
        return others.every((one) => away?.has(one));
      },
    };
  };
}
