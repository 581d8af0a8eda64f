/** What stands in a database beside what the release makes. */
import { expect, test } from 'vitest';
import { DEFAULT_INSTALLATION } from '../../src/db/installation.ts';
import { compareSchema } from '../../src/db/migrations/compare-schema.ts';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { createEmptyDatabase, createTestDatabase, openPool } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { silentLog } from '../support/silent-log.ts';

/** A change by the owner, and what is told of it. */
const CHANGES = [
  ['alter table attempts add column note text', 'attempts: columns'],
  ['alter table events alter column fan_out set default 0', 'events: columns'],
  ['alter table seals drop constraint seals_span', 'seals: constraints'],
  ['alter table deliveries drop constraint deliveries_once', 'deliveries: constraints'],
  ['drop index registrations_one_open', 'registrations: unique indexes'],
  ['alter table webhooks disable trigger webhooks_have_lanes', 'webhooks: triggers'],
  [
    'create trigger more before insert on send_orders for each row execute function suppress_redundant_updates_trigger()',
    'send_orders: triggers',
  ],
  ['grant update on partner_history to carteiro_app', 'partner_history: rights'],
  ['grant insert on checkpoints to public', 'checkpoints: rights'],
  ['grant update (hash) on seal_nodes to carteiro_poller', 'seal_nodes: rights by column'],
  ['grant select on webhook_history to carteiro_auditor', 'webhook_history: rights'],
  ['revoke select on cpf_reads from carteiro_app', 'cpf_reads: rights'],
  [
    "create or replace function mask(content text) returns text language sql immutable parallel safe as 'select content'",
    'function mask(content text): definition, settings',
  ],
  ['alter function reads_the_same(text) security definer', 'function reads_the_same(content text): definition'],
  [
    "create function masked(content character varying) returns boolean language sql as 'select false'",
    'function masked(content character varying): the release does not make it',
  ],
  [
    'grant execute on function erase_page(uuid, integer) to public',
    'function erase_page(p_order uuid, p_number integer): rights',
  ],
  ['alter view carteiro_auditoria.entregas set (security_invoker = true)', 'auditoria_entregas: options'],
  [
    'create or replace view attempts_as_sealed as select * from attempts_as_sealed where false',
    'attempts_as_sealed: definition',
  ],
  [
    "update event_types set kind = 'internal' where name = 'margem.falhou'",
    'event_types: its row margem.falhou is not as the release has it',
  ],
] as const;

test('each change is told by name and part, and nothing else is', async () => {
  const { pool, sql } = await createTestDatabase();
  expect(await compareSchema(pool, DEFAULT_INSTALLATION)).toEqual({ differences: [], uncompared: null });
  for (const [change] of CHANGES) await sql.unsafe(change);
  const { differences } = await compareSchema(pool, DEFAULT_INSTALLATION);
  const reported = differences.map(
    ({ name, detail }) => `${name}: ${detail.replace('not as the release makes it: ', '')}`,
  );
  expect(reported.toSorted()).toEqual(CHANGES.map(([, tells]) => tells).toSorted());
});

test('a database that was dumped, restored and adopted is as the release makes it', async () => {
  const { pool, sql } = await createTestDatabase();
  await sql`
    do $$
    declare
      written record;
    begin
      for written in
        select format('alter table %1$s drop constraint %2$I, add constraint %2$I %3$s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as again
        from pg_constraint where connamespace = 'carteiro'::regnamespace and contype = 'c' and conrelid <> 0
        union all
        select format('drop trigger %I on %s; %s', tgname, tgrelid::regclass, pg_get_triggerdef(t.oid))
        from pg_trigger t join pg_class c on c.oid = tgrelid where relnamespace = 'carteiro'::regnamespace and not tgisinternal
      loop
        execute written.again;
      end loop;
      update installation set system_identifier = 0;
      perform adopt_server();
    end
    $$`;
  expect(await compareSchema(pool, DEFAULT_INSTALLATION)).toEqual({ differences: [], uncompared: null });
});

test('an installation whose schema is a word of SQL is compared as any', async () => {
  const { url } = await createEmptyDatabase();
  const installation = { ...DEFAULT_INSTALLATION, schema: 'user' };
  await migrate(url, silentLog, { installation });
  const pool = openPool(url, { schema: installation.schema });
  expect(await compareSchema(pool, installation)).toEqual({ differences: [], uncompared: null });
});

test('what could not be compared is no difference, and is told apart', async () => {
  const database = await createTestDatabase();
  const { sql } = database;
  const login = await createLogin(database, 'carteiro_app');
  const { username } = new URL(login.url);
  const compareAs = async () => {
    const pool = openPool(login.url);
    const compared = await compareSchema(pool, DEFAULT_INSTALLATION);
    await pool.close(1);
    return compared;
  };
  expect(await compareAs()).toEqual({ differences: [], uncompared: null });

  await sql.unsafe(`alter role ${username} set role = carteiro_app`);
  const own = 'the rights of carteiro_app, which compares them';
  expect(await compareAs()).toEqual({ differences: [], uncompared: own });
  await sql`grant update on partner_history to carteiro_poller`;
  expect((await compareAs()).differences).toMatchObject([{ name: 'partner_history' }]);
  await sql`revoke update on partner_history from carteiro_poller`;
  await sql.unsafe(`alter role ${username} reset role`);

  const [{ name }] = await sql<[{ name: string }]>`select current_database() as name`;
  await sql.unsafe(`revoke temporary on database ${name} from public`);
  const denied = await compareAs();
  expect(denied).toEqual({ differences: [], uncompared: expect.stringContaining('permission denied to create temp') });
  await sql.unsafe(`grant temporary on database ${name} to public`);

  await sql.unsafe(`
    create function public.frozen() returns event_trigger language plpgsql as $$ begin raise 'frozen: %', tg_tag; end $$;
    create event trigger frozen on ddl_command_start execute function public.frozen()`);
  expect(await compareAs()).toEqual({ differences: [], uncompared: expect.stringContaining('frozen: CREATE TABLE') });
  await sql`drop event trigger frozen`;

  // A newer release has added a key, and an event.
  await sql`
    update event_types set keys = keys || '{novo}', kinds = kinds || '{string}', formats = formats || array[null::text],
                           optional = optional || '{novo}' where name = 'margem.falhou'`;
  await sql`
    insert into event_types select (json_populate_record(e, '{"name": "novo.evento"}')).* from event_types e where name = 'margem.falhou'`;
  expect(await compareAs()).toEqual({ differences: [], uncompared: null });
});

test('what a newer release has made anew is named as not compared; what nobody applied is altered all the same', async () => {
  const { pool, sql } = await createTestDatabase();
  const alter = (name: string) =>
    sql.unsafe(`create or replace function ${name} returns boolean language sql immutable as 'select false'`);
  const compare = () => compareSchema(pool, DEFAULT_INSTALLATION);
  await alter('carteiro.reads_the_same(content text)');
  await sql.unsafe("create function carteiro.is_newer(content text) returns boolean language sql as 'select false'");
  const altered = (await compare()).differences.map(({ name }) => name);
  expect(altered).toEqual(['function is_newer(content text)', 'function reads_the_same(content text)']);

  const apply = (name: string) =>
    sql`insert into applied_migrations (name, hash) values (${name}, 'of a newer release')`;
  await apply('functions/reads_the_same.sql');
  await apply('functions/is_newer.sql');
  expect(await compare()).toEqual({
    differences: [],
    uncompared:
      'what a newer release has made anew: function is_newer(content text), function reads_the_same(content text)',
  });
  // Of a newer file that calls it, and of none: neither makes it.
  await apply('functions/auditoria.arquivos.sql');
  await sql.unsafe(
    "create or replace function masked(content text) returns text language sql immutable as 'select content'",
  );
  await alter('carteiro.is_strange_answer(answer text)');
  const names = (await compare()).differences.map(({ name }) => name);
  expect(names).toEqual(['function is_strange_answer(answer text)', 'function masked(content text)']);
});
