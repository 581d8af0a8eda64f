/** The places where months lie, with the key of S3 read from its file. */
import { Archives, type ArchiveReads } from '../../archive/archived-rows.ts';
import { ArchiveFault } from '../../archive/archive-fault.ts';
import { openPlace, type Place } from '../../archive/place.ts';
import type { Config } from '../../config.ts';
import type { Pool } from '../../db/pool.ts';
import { codeOf, DatabaseUnavailable, HISTORY_AWAY } from '../../db/unavailable.ts';
import { readNamed } from '../named-files.ts';

/** Opens places by their names. Throws where the file of the secret cannot be read. */
export async function placesOf(config: Config): Promise<(name: string) => Place> {
  const { archiveS3KeyId: keyId, archiveS3SecretFile: secretFile, archiveS3Region: region } = config;
  if (keyId === null || secretFile === null) return (name) => openPlace(name, null);
  const secret = await readNamed('ARCHIVE_S3_SECRET_FILE', secretFile);
  const endpoint = config.archiveS3Endpoint ?? `https://s3.${region}.amazonaws.com`;
  return (name) => openPlace(name, { endpoint, region, keyId, secret });
}

/** What is read of removed months. A place that does not answer, or a file that is not there, is told as out of reach (503). What a call of these pools lacks comes back. */
export async function archiveReads(config: Config, pool: Pool, ...others: readonly Pool[]): Promise<ArchiveReads> {
  const reads = readsOf(new Archives(pool, await placesOf(config)));
  for (const one of [pool, ...others]) one.mend = reads.mend;
  return reads;
}

export function readsOf(archives: Archives): ArchiveReads {
  const reached = async <T>(read: Promise<T>): Promise<T> =>
    read.catch((error: Error) => {
      throw error instanceof ArchiveFault ? new DatabaseUnavailable(error.message, { cause: error }) : error;
    });
  return {
    delivery: (id) => reached(archives.delivery(id)),
    deliveriesOf: (column, value) => reached(archives.deliveriesOf(column, value)),
    between: (table, range) => reached(archives.between(table, range)),
    sentOf: (eventIds) => reached(archives.sentOf(eventIds)),
    months: () => archives.months(),
    seals: () => archives.seals(),
    bringBack: (column, value) => reached(archives.bringBack(column, value)),
    mend: (error) => reached(archives.mend(error)),
    leftAfter: (cursor) => archives.leftAfter(cursor),
  };
}

/** For `Pool.mend`: brings back the history of a loan that left with its months, where the error tells of one. */
export async function mend(config: Config, pool: Pool, error: unknown): Promise<boolean> {
  return codeOf(error) === HISTORY_AWAY && (await archiveReads(config, pool)).mend(error);
}
