/**
 * Runs one check in a process of its own: `check-mutant.ts <database> <check> <seed> [<url of a module> <its source>]`.
 * With a source, that module is loaded from it instead of from its file. Prints the check's findings, or nothing.
 */
import { registerHooks } from 'node:module';
import postgres from 'postgres';
import { Pool } from '../../src/db/pool.ts';
import type { CheckName } from '../model/checks.ts';

const [url = '', check = 'differential', seed = '1', mutated, source = ''] = process.argv.slice(2);
registerHooks({
  load(module, context, load) {
    if (module !== mutated) return load(module, context);
    return { format: 'module-typescript', source, shortCircuit: true };
  },
});
const { CHECKS } = await import('../model/checks.ts');
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
