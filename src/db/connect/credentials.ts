/** The password of a connection, looked up for each one, because the file of passwords may change. */
import { readFileSync } from 'node:fs';
import type { DatabaseHost, DatabasePlace } from '../../settings/database-url.ts';
import { UntrustedServer } from './tls.ts';

/** Null where neither the URL nor its file of passwords has one. */
export async function passwordOf(place: DatabasePlace, host: DatabaseHost): Promise<string | null> {
  const found = place.password ?? (place.passfile === null ? null : findPassword(place.passfile, place, host));
  return found === null || /^[\u0020-\u007e]*$/.test(found) ? found : prepared(found);
}

/** As SCRAM prepares a password (RFC 4013); like PostgreSQL it uses a forbidden one unchanged. */
async function prepared(password: string): Promise<string> {
  const { saslprep } = await import('@mongodb-js/saslprep');
  try {
    return saslprep(password);
  } catch {
    return password;
  }
}

/** libpq's format: `host:port:database:user:password`, `*` matches any, a backslash escapes. */
function findPassword(file: string, { database, user }: DatabasePlace, { name, port }: DatabaseHost): string | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UntrustedServer(`passfile in the database's URL: ${file} cannot be read`, { cause: error });
  }
  const wanted = [name, String(port), database ?? user ?? '', user ?? ''];
  for (const line of text.split('\n')) {
    const fields = [...line.replace(/\r$/, '').matchAll(/(?:\\.|[^:\\])+/g)].map(([field]) =>
      field.replaceAll(/\\(.)/g, '$1'),
    );
    if (!line.startsWith('#') && wanted.every((value, i) => fields[i] === '*' || fields[i] === value))
      return fields[4] ?? null;
  }
  return null;
}
