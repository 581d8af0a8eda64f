/** What an auditor sees of settings and of the catalog: each change, by whom, and sealed. */
import { expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { keepSettings } from '../../src/main/service/settings-history.ts';
import { createTestDatabase, openPool } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { silentLog } from '../support/silent-log.ts';
import { untilSettled } from '../support/settled.ts';

const { sql, pool, url } = await createTestDatabase();
const login = await createLogin({ sql, url }, 'carteiro_app');
const own = openPool(login.url, { max: 1 });
const config = (more: Record<string, string> = {}) => readConfig({ ...more }, []);

const start = (found: Config) => keepSettings({ pool: own, log: silentLog }, found, new AbortController().signal);

test('a start keeps its settings where they are others than before, and no secret', async () => {
  await start(config());
  await start(config());
  const secret = {
    SECRETS_KEY: Buffer.alloc(32, 'k').toString('base64'),
    DATABASE_URL: 'postgres://db/x',
    SANDBOX: 'true',
  };
  await start(config({ ERASE_AFTER_YEARS: '7', ...secret }));
  const rows = await sql<{ name: string; value: string; actor: string }[]>`
    select name, value, actor from carteiro.system_history order by position`;
  expect(rows.map(({ value }) => (JSON.parse(value) as Config).eraseAfterYears)).toEqual([5, 7]);
  expect(rows[0]?.value).toContain('"keepMonths":null');
  expect(rows[0]).toMatchObject({ name: 'api', actor: new URL(login.url).username });
  expect(JSON.stringify(rows)).not.toContain(secret.SECRETS_KEY);
  expect(JSON.stringify(rows)).not.toContain('postgres://');
});

test('each change of the catalog is kept, whoever makes it, and a changed line is found', async () => {
  await sql`update event_types set families = families where name = 'margem.falhou'`;
  const [row] =
    await sql`select about, name, value::json ->> 'versao' as version from system_history order by position desc limit 1`;
  expect(row).toEqual({ about: 'catalogo', name: 'margem.falhou', version: '1' });
  await untilSettled(sql);
  await sealAll(pool);
  await sql`update system_history set actor = 'nobody' where about = 'catalogo'`;
  expect((await verifySeals(pool)).findings).toMatchObject([{ tipo: 'linha_alterada', tabela: 'system_history' }]);
});
