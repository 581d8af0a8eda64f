/** Every setting that a role can have, with values that are not PostgreSQL's own, and a life under each. */
import { randomBytes, randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { expect } from 'vitest';
import { readWriteFault } from '../../src/db/write-faults.ts';
import { refuse } from '../../src/db/fitness/finding.ts';
import { DEFAULT_INSTALLATION } from '../../src/db/installation.ts';
import type { Sql } from '../../src/db/pool.ts';
import { findUnexpectedDefinitions } from '../../src/audit/seals/tables.ts';
import { CHECKS } from '../../src/main/operations/checks.ts';
import { loanHistory } from './history.ts';
import { createTestDatabase, openPool } from './database.ts';
import { endOf } from './ends.ts';
import { endLeases, expectToGoOn, live, readOn } from './lived-database.ts';
import { insertPartner } from './outbox.ts';
import { reasonOf } from '../../src/main/reason.ts';
import { startReceiver } from './receiver.ts';

export interface OddSetting {
  readonly name: string;
  readonly value: string;
}

/** Odd texts; of a setting that has none here, a text that hurts nobody. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  DateStyle: ['SQL, DMY', 'German, DMY', 'Postgres, MDY', 'ISO, YMD'],
  TimeZone: ['Asia/Kathmandu', 'America/Sao_Paulo'],
  timezone_abbreviations: ['Australia', 'India'],
  client_encoding: ['LATIN1', 'SQL_ASCII', 'EUC_JP'],
  search_path: ['pg_catalog', 'nowhere', ''],
  restrict_nonsystem_relation_kind: ['view', 'foreign-table'],
  createrole_self_grant: ['set, inherit'],
  default_tablespace: ['pg_default'],
  temp_tablespaces: ['pg_default'],
  default_table_access_method: ['heap'],
  default_text_search_config: ['pg_catalog.portuguese'],
  lc_messages: ['C.UTF-8'],
  lc_monetary: ['C.UTF-8'],
  lc_numeric: ['C.UTF-8'],
  lc_time: ['C.UTF-8'],
  log_statement_max_duration: [],
  // Names a file that the server loads.
  local_preload_libraries: [],
  // Given with the role itself.
  role: [],
  session_authorization: [],
  'plpgsql.extra_errors': ['all'],
  'plpgsql.extra_warnings': ['all'],
};

/** A core that has one of these ends its own statement or session, whatever it calls. */
const OF_THE_CORE =
  /^(statement_timeout|transaction_timeout|lock_timeout|idle_session_timeout|idle_in_transaction_session_timeout|exit_on_error)$/;

interface Described {
  readonly name: string;
  readonly vartype: string;
  readonly setting: string;
  readonly least: string | null;
  readonly most: string | null;
  readonly choices: string[] | null;
}

function oddValues({ name, vartype, setting, least, most, choices }: Described): readonly string[] {
  if (vartype === 'bool') return [setting === 'on' ? 'off' : 'on'];
  if (vartype === 'enum') return (choices ?? []).filter((choice) => choice !== setting);
  if (vartype === 'string') return TEXTS[name] ?? ["it's odd"];
  const [own, low, high] = [Number(setting), Number(least), Number(most)];
  // More memory or patience than eight times the usual is no other way of writing a value.
  const values = [own === 0 && low === 0 ? Math.min(1, high) : low, Math.min(high, own * 8 + 1)];
  return [...new Set(values)].filter((value) => value !== own).map(String);
}

/** Of the server, with the values of each setting that a role can be given. */
export async function readOddSettings(sql: Sql): Promise<readonly OddSetting[]> {
  // PL/pgSQL has settings of its own once it is loaded.
  await sql.unsafe('do $$ begin end $$');
  const all = await sql<Described[]>`
    select name, vartype, setting, min_val as least, max_val as most, enumvals as choices from pg_settings
    where context = 'user' order by name`;
  return all.flatMap((described) => oddValues(described).map((value) => ({ name: described.name, value })));
}

/** What became of a life: it went well, or a start refuses it in these words. */
export type Verdict = 'lives' | `refused: ${string}`;

const IMPOSSIBLE = new Set(['55P02', '22023', '0A000', '42501', '58P01', '42704', '55000', '25001']);

/** Lives on a fresh database as a login that has those of `settings` that a role can have; its core has them too. */
export async function liveWith(settings: readonly OddSetting[]): Promise<Verdict> {
  const database = await createTestDatabase();
  const login = `carteiro_odd_${randomBytes(6).toString('hex')}`;
  const url = new URL(database.url);
  [url.username, url.password] = [login, 'odd'];
  await database.sql.unsafe(`create role ${login} superuser login password 'odd'`);
  const dropRole = endOf(() => database.sql.unsafe(`drop role ${login}`).then(() => undefined));
  try {
    for (const { name, value } of settings) {
      const text = name === 'search_path' && value !== '' ? value : `'${value.replaceAll("'", "''")}'`;
      await database.sql.unsafe(`alter role ${login} set ${name} = ${text}`).catch((error: { code: string }) => {
        if (!IMPOSSIBLE.has(error.code)) throw error;
      });
    }
    return await liveAs(url.href, database.sql, settings);
  } finally {
    await dropRole();
    await database.drop();
  }
}

async function liveAs(url: string, sql: Sql, settings: readonly OddSetting[]): Promise<Verdict> {
  const pool = openPool(url, { max: 10 });
  const { schema } = DEFAULT_INSTALLATION;
  try {
    refuse(await pool.run(CHECKS.server));
    refuse(await pool.run(CHECKS.session));
  } catch (error) {
    await pool.close(1);
    return `refused: ${reasonOf(error)}`;
  }
  const fault = await readWriteFault(pool);
  if (fault !== null) {
    await pool.close(1);
    return `refused: ${fault}`;
  }
  // As another program's driver: its session has what the role has.
  const ended = settings.filter(({ name }) => OF_THE_CORE.test(name));
  const own = Object.fromEntries(ended.map(({ name }) => [name, '0']));
  const core = postgres(url, { max: 2, onnotice: () => undefined, connection: { search_path: 'carteiro', ...own } });
  const receiver = await startReceiver();
  try {
    const lived = await live(pool, sql, receiver);
    const before = await readOn(pool, lived.partnerId);
    await appendAsCore(core, lived.partnerId);
    await endLeases(sql);
    await expectToGoOn(pool, sql, lived, before);
    const sent = receiver.posts.filter(({ body }) => body.includes('margem'));
    expect(sent).toEqual([]);
    const times = receiver.posts.map(({ body }) => (JSON.parse(body.toString()) as { timestamp: string }).timestamp);
    expect(times.filter((time) => time === OCCURRED_AT)).toHaveLength(2);
    expect(await findUnexpectedDefinitions(pool, DEFAULT_INSTALLATION)).toEqual({ findings: [], uncompared: null });
    expect(await pool.run((tx) => CHECKS.schema(tx, { schema }))).toMatchObject([{ verdict: 'ok' }]);
  } finally {
    await core.end({ timeout: 1 });
    await pool.close(1);
    await receiver.close();
  }
  return 'lives';
}

/** Its day could be a month. */
const OCCURRED_AT = '2026-03-04T05:06:07.089Z';

/** A usual payload, one that is read key by key, history, and what is refused, which must name itself. */
async function appendAsCore(core: Sql, partnerId: string): Promise<void> {
  const append = (stream: string, data: string) => core`
    select carteiro.append_event(${stream}::uuid, 0, 'desembolso.falhou', ${partnerId}::uuid, ${data}::text::json,
                                 'test', null, ${OCCURRED_AT}::text::timestamptz)`;
  const [one, other] = [randomUUID(), randomUUID()];
  const numbered = `"numero_emprestimo":"2026-00000001"`;
  await append(one, `{"emprestimo_id":"${one}",${numbered},"motivo":"conta encerrada"}`);
  await append(other, `{"motivo":"linha \\n e \\u00e7","emprestimo_id":"${other}",${numbered}}`);
  await expect(append(other, `{"emprestimo_id":"${other}"}`)).rejects.toMatchObject({ code: 'CT400' });
  await expect(append(one, `{"emprestimo_id":"${one}",${numbered},"motivo":"\\u0000"}`)).rejects.toMatchObject({
    code: 'CT400',
  });
  // Of another partner: history has no deliveries.
  const history = loanHistory(await insertPartner(core), 0, new Date('2026-03-04T05:06:07.089Z'));
  const lines = history.map((event) => JSON.stringify(event));
  const [{ appended }] = await core<[{ appended: number }]>`
    select appended from carteiro.append_history(${lines}::text[]::json[])`;
  expect(appended).toBe(history.length);
  const [{ times }] = await core<[{ times: number }]>`
    select count(*)::int as times from carteiro.events where occurred_at = '2026-03-04 05:06:07.089+00'`;
  expect(times).toBeGreaterThanOrEqual(3);
}
