/** The places where months lie, with the key of S3 read from its file. */
import { readFile } from 'node:fs/promises';
import { openPlace, type Place } from '../../archive/place.ts';
import { type Config, ConfigError } from '../../config.ts';

/** Opens places by their names. Throws where the file of the secret cannot be read. */
export async function placesOf({ archive: { s3 } }: Config): Promise<(name: string) => Place> {
  if (s3 === null) return (name) => openPlace(name, null);
  const { secretFile, ...rest } = s3;
  const secret = await readFile(secretFile, 'utf8').catch((error: Error) => {
    throw new ConfigError([`ARCHIVE_S3_SECRET_FILE: ${secretFile} cannot be read: ${error.message}`]);
  });
  return (name) => openPlace(name, { ...rest, secret: secret.trim() });
}
