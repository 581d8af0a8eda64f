/**
 * Runs one check on the copy of the engine beside it, which a test has changed: `check-mutant.ts <database> <check> <seed>`.
 * Prints the check's findings, or nothing.
 */
import postgres from 'postgres';
import { Pool } from '../../src/db/pool.ts';
import { CHECKS, type CheckName } from '../model/checks.ts';

const [url = '', check = 'differential', seed = '1'] = process.argv.slice(2);
const pool = new Pool({ url, name: 'mutant', max: 8, deadlineMs: 10_000 });
const sql = postgres(url, {
  max: 6,
  onnotice: () => undefined,
  connection: { TimeZone: 'UTC', search_path: 'carteiro' },
});
const found = await CHECKS[check as CheckName](pool, sql, Number(seed)).then(
  () => '',
  (error: Error) => `${error.name}: ${error.message}`,
);
process.stdout.write(found);
await Promise.all([pool.close(1), sql.end({ timeout: 1 })]);
