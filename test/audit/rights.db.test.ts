/** What the house's roles may not do: whatever would alter what an auditor relies on. */
import { describe, expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import type { Sql } from '../../src/db/pool.ts';
import { SOURCE_NAMES } from '../../src/db/sealed-rows.ts';
import { connectTo } from '../support/connect.ts';
import { createTestDatabase } from '../support/database.ts';
import { createLogin, type Login } from '../support/logins.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';

const logins = new Map<string, { login: Login; sql: Sql }>();
const ROLES = ['carteiro_app', 'carteiro_poller', 'carteiro_core', 'carteiro_auditor'];
/** Those who may not look into the schema, or not into its tables. */
const STRANGERS = new Set(['carteiro_auditor', 'carteiro_core']);
const LOGGED = ['events', 'attempts', 'webhook_history', 'partner_history', 'send_orders', 'seals'];

/** Everything that is append-only, in one number. */
async function digestOfAll(): Promise<string> {
  const [row] = await database.sql<[{ digest: string }]>`
    select md5(string_agg(r, '|' order by r)) as digest from (
      select e::text as r from events e union all select a::text from attempts a
      union all select p::text from partner_history p union all select h::text from webhook_history h union all select o::text from send_orders o union all select s::text from seals s
    ) all_rows`;
  return row.digest;
}

const database = await createTestDatabase();
const { sql, pool } = database;
const partnerId = await insertPartner(sql);
await sql.begin(async (tx) => {
  await tx`select set_config('carteiro.actor', 'cpf 529.982.247-25', true)`;
  await tx`update partners set name = 'Outro'`;
});
await insertWebhook(sql, partnerId, 'https://partner.example/529‑982‑247‑25?token=abc&cpf=52998224725');
await sql`insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
            select id, partner_id, url, events, active, 'cpf 529.982.247-25' from webhooks`;
await commitEvents(sql, partnerId, 3);
await sql`insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor)
            select 'reenvio', webhook_id, partner_id, array[id], 'cpf 529.982.247-25' from deliveries`;
await sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, answer)
    select id, 1, webhook_id, partner_id, 'resposta_nao_2xx', 500, now(), 1, 'https://partner.example/', 'test', 'cpf 529‑982‑247‑25'
    from deliveries`;
await untilSettled(sql);
await sealAll(pool);
for (const role of ROLES) {
  const login = await createLogin(database, role);
  logins.set(role, { login, sql: connectTo(login.url) });
}
const digest = await digestOfAll();

const ATTEMPT = '(delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim';
const TAMPERING = [
  ...LOGGED.map((table) => `delete from ${table}`),
  ...LOGGED.map((table) => `truncate ${table} cascade`),
  "update events set data = '{}'",
  'update events set occurred_at = occurred_at',
  "update attempts set outcome = 'entregue', status_code = 200",
  'update events set fan_out = 0',
  'update messages set fan_out = 0',
  'update webhook_history set active = false',
  'update seals set root = leaf',
  "update send_orders set actor = 'nobody'",
  "update partner_history set actor = 'nobody'",
  'insert into partner_history select * from partner_history',
  'update partners set active = not active',
  'delete from retired_keys',
  "update retired_keys set key_id = 'x'",
  // Upsert and merge.
  'insert into seals select * from seals on conflict (number) do update set root = excluded.root',
  'update seal_trees set leaves = nodes',
  'delete from seal_nodes',
  'update checkpoints set note = note',
  'update anchor_receipts set receipt = receipt',
  'delete from anchor_receipts',
  'merge into attempts a using deliveries d on d.id = a.delivery_id when matched then delete',
  'merge into events e using messages m on m.event_id = e.id when matched then update set type = m.type',
  // Forged rows: only append_event writes the log.
  "insert into events (stream, version, type, partner_id, data, occurred_at, actor) values (uuidv7(), 1, 'margem.falhou', uuidv7(), '{}', now(), 'x')",
  "insert into messages (event_id, partner_id, type, fan_out, snapshot) values (uuidv7(), uuidv7(), 'margem.falhou', 0, pg_current_snapshot())",
  'insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at) values (uuidv7(), uuidv7(), uuidv7(), now())',
  "insert into event_types (name, kind, families, keys, kinds, formats) values ('x', 'emitted', '{}', '{}', '{}', '{}')",
  "update event_types set kind = 'emitted'",
  // Forged places in the order.
  `insert into attempts ${ATTEMPT}, tx) select delivery_id, 9, webhook_id, partner_id, 'desconhecido', now(), url, claim, tx from attempts`,
  `insert into attempts ${ATTEMPT}, recorded_at) select delivery_id, 9, webhook_id, partner_id, 'desconhecido', now(), url, claim, now() from attempts`,
  'insert into events (stream, version, type, partner_id, data, occurred_at, actor, tx) select stream, 9, type, partner_id, data, occurred_at, actor, tx from events',
  'insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor, ordered_at) select kind, webhook_id, partner_id, delivery_ids, actor, ordered_at from send_orders',
  "select setval('events_position_seq', 1)",
  // Through parents and children.
  'delete from webhooks',
  'delete from partners',
  'delete from deliveries',
  'truncate partners cascade',
  'update webhooks set id = uuidv7()',
  'update deliveries set event_id = uuidv7()',
  'insert into lanes (webhook_id, partner_id) select webhook_id, partner_id from lanes',
  'update lanes set webhook_id = uuidv7()',
  'update lanes set partner_id = uuidv7()',
  'create temp table w (id uuid); create trigger second after insert on w for each row execute function make_lane()',
  // Through views, statements within statements, copies and locks.
  'delete from messages',
  'update carteiro_auditoria.selos set raiz = folha',
  'delete from carteiro_auditoria.tentativas',
  'with gone as (delete from attempts returning *) select count(*) from gone',
  'select * from attempts for update',
  "copy events from program 'cat /dev/null'",
  'lock table attempts in access exclusive mode',
  // Through the schema.
  'create rule silent as on insert to attempts do instead nothing',
  'create trigger silent before insert on attempts for each row execute function suppress_redundant_updates_trigger()',
  'alter table attempts disable trigger all',
  'alter table attempts alter column recorded_at drop default',
  'alter table attempts drop constraint attempts_pkey',
  'drop table seals',
  'drop view messages',
  'create or replace view messages as select 1 as event_id',
  'create or replace function is_strange_answer(answer text) returns boolean language sql immutable return false',
  'create table events_copy (id int)',
  'create schema other',
  'grant delete on attempts to current_user; delete from attempts',
  'alter table attempts owner to current_user',
  'set role carteiro_owner',
  'set session_replication_role = replica',
  'create role other',
];

describe.each(ROLES)('%s', (role) => {
  test.each(TAMPERING)('may not: %s', async (statement) => {
    const { sql } = logins.get(role) as { sql: Sql };
    const refused = await sql.unsafe(`begin; ${statement}; commit`).then(
      () => 'done',
      (error: { code?: string }) => error.code,
    );
    await sql.unsafe('rollback');
    // Refused for lack of right, 42501; also where the view itself cannot be written, or the name is not its own; or
    // nothing of that name is found by who may not look into the schema.
    const refusals = ['42501', '55000', '0A000', '428C9'];
    expect(STRANGERS.has(role) ? [...refusals, '42P01', '42883', '3F000'] : refusals).toContain(refused);
  });
});

test('nothing has changed by all of that', async () => {
  expect(await digestOfAll()).toBe(digest);
});

describe('the auditor', () => {
  const views = [
    'parceiros',
    'webhooks',
    'historico_webhooks',
    'historico_parceiros',
    'eventos',
    'mensagens',
    'entregas',
    'historico',
    'tentativas',
    'pedidos_envio',
    'selos',
  ];

  /** What `audit head` reads. */
  const log = ['applied_migrations', 'installation', 'event_types', 'seals', 'seal_trees', 'seal_nodes', 'checkpoints'];
  const heads = new Set([
    ...log,
    'partners',
    'erasure_pages',
    'masked_facts',
    'balance_days',
    'balance_verdicts',
    'system_history',
    'anchor_receipts',
    'verify_verdicts',
    ...SOURCE_NAMES.map((name) => `${name}_as_sealed`),
  ]);

  test('reads every view, and no table as a whole in which a CPF may stand', async () => {
    const { sql } = logins.get('carteiro_auditor') as { sql: Sql };
    for (const view of views)
      expect((await sql.unsafe(`select * from carteiro_auditoria.${view}`)).length).toBeGreaterThan(0);
    const tables = await database.sql<{ name: string }[]>`
      select c.oid::regclass::text as name from pg_class c where relnamespace = 'carteiro'::regnamespace and relkind in ('r', 'v')`;
    for (const { name } of tables.filter(({ name }) => !heads.has(name.replace('carteiro.', ''))))
      await expect(sql.unsafe(`select * from carteiro.${name}`)).rejects.toMatchObject({ code: '42501' });
  });

  test('meets no secret, and a CPF only with the role for it', async () => {
    await database.sql`
      update webhooks set encrypted_secret = 'segredo-selado'`;
    const all = async (sql: Sql) => {
      const texts = [];
      for (const view of views)
        texts.push(JSON.stringify(await sql.unsafe(`select v::text from carteiro_auditoria.${view} v`)));
      return texts.join('\n');
    };
    const { sql } = logins.get('carteiro_auditor') as { sql: Sql };
    const masked = await all(sql);
    expect(masked).not.toMatch(/529\D{0,12}982\D{0,12}247|token=|segredo/);
    expect(masked).not.toContain(Buffer.from('segredo-selado').toString('hex'));
    const privileged = await createLogin(database, 'carteiro_auditor', 'carteiro_auditor_cpf');
    const other = connectTo(privileged.url, { connection: {} });
    expect(await all(other)).toMatch(/529\.982\.247-25/);
    const legible = await other<{ name: string }[]>`
      select attrelid::regclass || '.' || attname as name from pg_attribute join pg_class c on c.oid = attrelid
      where c.relnamespace = 'carteiro'::regnamespace and c.relkind in ('r', 'v') and attnum > 0 and attname ~ 'secret|key|token'
        and has_column_privilege(attrelid, attnum, 'select')
      order by attname, 1`;
    expect(legible.map(({ name }) => name)).toEqual([
      'carteiro.attempts.key_id',
      'carteiro.targets.key_id',
      'carteiro.event_types.keys',
    ]);
  });
});
