/** The operator's steering commands as real processes: what each does, and what it refuses without having done a half. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readProof } from '../../src/audit/proof/proof.ts';
import { checkProof } from '../../src/audit/proof/check-proof.ts';
import { type Finished, callCommand, startCommand } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { commitMarginEvents, insertClaim, insertSubscriber, insertWebhook, readDeliveries } from '../support/outbox.ts';
import { sealAndSign, TRUSTED } from '../support/checkpoint.ts';
import { untilSettled } from '../support/settled.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const UNKNOWN = '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b';
let partnerId: string;
let webhookId: string;

const database = await createTestDatabase();
const { sql } = database;
beforeEach(async () => {
  ({ partnerId, id: webhookId } = await insertSubscriber(sql, 'https://partner.example/?token=abc', ['margem.falhou']));
  await sql`insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
            select id, partner_id, url, events, active, 'test' from webhooks where id = ${webhookId}`;
});

const env = (url = database.url) => ({ DATABASE_URL: url, SANDBOX: 'true', LOG_LEVEL: 'warn' });
const run = (...args: string[]) => callCommand(args, env());
const json = async <T>(...args: string[]): Promise<T> => {
  const { code, stdout, stderr } = await run(...args, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as T;
};
const refused = ({ code, stdout, stderr }: Finished) => [code, stdout, stderr.trimEnd()];

const ofWebhook = async () =>
  database.sql<{ change: string; actor: string; reason: string | null }[]>`
    select change, actor, reason from webhook_history where webhook_id = ${webhookId} order by position`;
const ofPartner = async () =>
  database.sql<{ change: string; actor: string; reason: string | null; name: string }[]>`
    select change, actor, reason, name from partner_history where partner_id = ${partnerId} order by position`;

describe('every steering command', () => {
  test.each([
    ['partner', 'show'],
    ['partner', 'set', '--name', 'X'],
    ['partner', 'deactivate'],
    ['partner', 'reactivate'],
    ['webhook', 'show'],
    ['webhook', 'mute'],
    ['webhook', 'unmute'],
    ['webhook', 'cap', '3'],
    ['delivery', 'show'],
    ['delivery', 'resend'],
    ['delivery', 'cancel', '--reason', 'x'],
  ])('%s %s says in one sentence that there is no such id, and leaves with 1', async (group, name, ...rest) => {
    const [code, stdout, sentence] = refused(await run(group, name, UNKNOWN, ...rest));
    expect([code, stdout]).toEqual([1, '']);
    expect(sentence).toMatch(new RegExp(`^carteiro: there is no ${group} ${UNKNOWN}[^\n]*$`));
  });

  test.each([
    ['partner', 'list'],
    ['partner', 'show', UNKNOWN],
    ['partner', 'set', UNKNOWN, '--name', 'X'],
    ['partner', 'deactivate', UNKNOWN],
    ['partner', 'reactivate', UNKNOWN],
    ['partner', 'create', '--name', 'X'],
    ['webhook', 'list'],
    ['webhook', 'show', UNKNOWN],
    ['webhook', 'mute', UNKNOWN],
    ['webhook', 'unmute', UNKNOWN],
    ['webhook', 'cap', UNKNOWN, '3'],
    ['delivery', 'show', UNKNOWN],
    ['delivery', 'resend', UNKNOWN],
    ['delivery', 'cancel', UNKNOWN, '--reason', 'x'],
  ])('%s %s leaves at once with 3 where no database answers', async (...args) => {
    const { code, stdout, stderr } = await callCommand(args, env('postgres://nobody@127.0.0.1:1/none'));
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(/^carteiro: the database is out of reach\n {2}because: .*ECONNREFUSED.*\n$/);
  });

  test.each([
    [['partner', 'show', 'x'], 'Give a UUID.'],
    [['partner', 'set', UNKNOWN], 'give at least one of --name, --signing, --documents and --issuance'],
    [['partner', 'set', UNKNOWN, '--signing', 'x'], 'Allowed choices are internal, externa.'],
    [['webhook', 'cap', UNKNOWN, '1001'], 'Give 1 to 1000.'],
    [['webhook', 'list', '--state', 'x'], 'Allowed choices are muted, inactive, failing, falhando.'],
    [['delivery', 'cancel', UNKNOWN], "required option '--reason <text>' not specified"],
    [['delivery', 'cancel', UNKNOWN, '--reason', 'a\nb'], 'Give one line of 1 to 500 characters, without a CPF.'],
    [
      ['delivery', 'cancel', UNKNOWN, '--reason', 'CPF 529.982.247-25'],
      'Give one line of 1 to 500 characters, without a CPF.',
    ],
    [['worker', 'erase', '52998224726', '--reason', 'x'], 'Give a CPF: 11 digits with right check digits.'],
    [['worker', 'erase', '52998224725', '--reason', 'x', '--order', 'x'], 'Give a number as the court writes it'],
    [['worker', 'show', '529.982.247', '26'], "too many arguments for 'show'. Expected 1 argument but got 2."],
    [['worker', 'show', '--cpf=529.982.247-26'], "unknown option '--cpf'"],
    [['webhook', 'shut', UNKNOWN], "unknown command 'shut'"],
    [['webhook', 'constructor', UNKNOWN], "unknown command 'constructor'"],
    [['webhook', 'mute'], "missing required argument 'webhook'"],
  ])('%j is a wrong usage, told with its rule and without a CPF, and leaves with 2', async (args, rule) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(rule);
    expect(stderr).not.toMatch(/529\.?982/);
  });

  test('with a forgotten or misspelled DATABASE_URL makes no sandbox to look into', async () => {
    const folder = await makeTestFolder();
    const DATA_DIR = path.join(folder.path, 'none');
    for (const args of [['webhook', 'mute', UNKNOWN], ['doctor'], ['secrets', 'reseal']]) {
      const forgotten = await callCommand(args, { DATA_DIR });
      expect(refused(forgotten)).toEqual([
        3,
        '',
        expect.stringMatching(/^carteiro: there is no database: set DATABASE_URL; [^\n]*$/),
      ]);
      const misspelled = await callCommand(args, { DATA_DIR, DATABSE_URL: database.url });
      expect(refused(misspelled)).toEqual([2, '', expect.stringContaining('is DATABASE_URL meant?')]);
    }
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  test('by a login without the rights says which role it needs, and changes nothing', async () => {
    const poller = await createLogin(database, 'carteiro_poller');
    for (const [url, role, ...args] of [
      [poller.url, 'app', 'partner', 'deactivate', partnerId],
      [poller.url, 'app', 'partner', 'set', partnerId, '--name', 'X'],
      [poller.url, 'app', 'partner', 'create', '--name', 'X'],
      [poller.url, 'app', 'webhook', 'mute', webhookId],
    ] as const) {
      const [code, stdout, sentence] = refused(await callCommand(args, env(url)));
      expect([code, stdout]).toEqual([1, '']);
      expect(sentence).toMatch(
        new RegExp(
          `^carteiro: the role carteiro_test_login_\\w+ lacks the rights .*, which is a member of carteiro_${role}$`,
        ),
      );
    }
    await poller.remove();
    expect(await ofPartner()).toEqual([]);
    expect((await ofWebhook()).length).toBe(1);
  });

  test('that lets a partner go needs the rights of the API alone, which cannot let it back in', async () => {
    const login = await createLogin(database, 'carteiro_app');
    const as = (...args: string[]) => callCommand(args, env(login.url));
    expect((await as('partner', 'deactivate', partnerId, '--author', 'ana', '--reason', 'fim')).code).toBe(0);
    expect(await ofPartner()).toMatchObject([{ change: 'desativacao', actor: 'operador:ana', reason: 'fim' }]);
    const [code, , sentence] = refused(await as('partner', 'reactivate', partnerId));
    expect([code, sentence]).toEqual([1, expect.stringContaining('the login that runs migrate')]);
    await login.remove();
    expect((await ofPartner()).length).toBe(1);
  });
});

describe('partner', () => {
  test('create, set and show keep every state with its author', async () => {
    const created = await run('partner', 'create', '--name', 'Um', '--author', 'ana', '--json');
    const { id } = JSON.parse(created.stdout) as { id: string };
    await json(
      'partner',
      'set',
      id,
      '--signing',
      'externa',
      '--name',
      'Dois',
      '--author',
      'rui',
      '--reason',
      'contrato',
    );
    const shown = await json<{ name: string; history: object[] }>('partner', 'show', id);
    expect(shown).toMatchObject({ name: 'Dois', signing: 'externa', issuance: 'sincrona', active: true, webhooks: [] });
    expect(shown.history).toMatchObject([
      { change: 'alteracao', actor: 'operador:rui', reason: 'contrato', name: 'Dois', signing: 'externa' },
      { change: 'criacao', actor: 'operador:ana', reason: null, name: 'Um', signing: 'internal' },
    ]);
    const listed = await json<{ id: string; webhooks: number }[]>('partner', 'list');
    expect(listed.find((row) => row.id === partnerId)).toMatchObject({ webhooks: 1, active: true });
    expect((await run('partner', 'list')).stdout).toContain(id);
  });

  test('deactivate suspends what is pending; reactivate leaves it so; twice is refused', async () => {
    await commitMarginEvents(database.sql, partnerId, 3);
    expect(await json('partner', 'deactivate', partnerId, '--author', 'ana', '--reason', 'fim')).toEqual({
      id: partnerId,
      active: false,
      suspended: 3,
      wereInFlight: 0,
    });
    const again = refused(await run('partner', 'deactivate', partnerId));
    expect(again).toEqual([1, '', expect.stringContaining(`partner ${partnerId} is inactive already`)]);
    expect((await readDeliveries(database.sql, webhookId)).map(({ status }) => status)).toEqual(
      Array(3).fill('suspensa'),
    );
    const inactive = await json<{ id: string }[]>('partner', 'list', '--inactive');
    expect(inactive.map(({ id }) => id)).toContain(partnerId);
    expect(await json('partner', 'reactivate', partnerId)).toMatchObject({ active: true, suspended: 3 });
    expect((await run('partner', 'reactivate', partnerId)).code).toBe(1);
    expect(await ofPartner()).toMatchObject([
      { change: 'desativacao', actor: 'operador:ana', reason: 'fim' },
      { change: 'reativacao', reason: null },
    ]);
  });

  test('changed by hand leaves a line, too, with the login as its author; nothing changed leaves none', async () => {
    await database.sql`update partners set name = 'Outro' where id = ${partnerId}`;
    await database.sql`update partners set name = 'Outro' where id = ${partnerId}`;
    const [{ login }] = await database.sql<[{ login: string }]>`select session_user::text as login`;
    expect(await ofPartner()).toEqual([{ change: 'alteracao', actor: login, reason: null, name: 'Outro' }]);
  });
});

describe('webhook', () => {
  test('mute, show, list and unmute; twice is refused', async () => {
    await commitMarginEvents(database.sql, partnerId, 2);
    const muted = await json('webhook', 'mute', webhookId, '--author', 'ana', '--reason', 'endpoint fora');
    expect(muted).toEqual({ webhook: webhookId, muted: true, pending: 2, wereInFlight: 0 });
    expect(refused(await run('webhook', 'mute', webhookId))[2]).toContain('is muted already');
    const shown = await json('webhook', 'show', webhookId);
    expect(shown).toMatchObject({
      url: 'https://partner.example/?***********',
      mutedAt: expect.any(String) as string,
      deliveries: { pending: 2, inFlight: 0, suspended: 0, failed: 0 },
    });
    const listed = await json<{ id: string }[]>('webhook', 'list', '--state', 'muted');
    expect(listed.map(({ id }) => id)).toEqual([webhookId]);
    expect((await run('webhook', 'list', '--partner', partnerId)).stdout).toMatch(/muted +64/);
    const as = ['--author', 'rui', '--reason', 'lento'];
    expect(await json('webhook', 'cap', webhookId, '3', ...as)).toEqual({ webhook: webhookId, cap: 3 });
    const [lane] =
      await database.sql`select muted_at is not null as "isMuted", max_in_flight from lanes where webhook_id = ${webhookId}`;
    expect(lane).toEqual({ isMuted: true, max_in_flight: 3 });
    expect(await json('webhook', 'unmute', webhookId)).toEqual({ webhook: webhookId, muted: false, pending: 2 });
    expect(refused(await run('webhook', 'unmute', webhookId))[2]).toContain('is not muted');
    expect(await ofWebhook()).toMatchObject([
      { change: 'criacao' },
      { change: 'silenciamento', actor: 'operador:ana', reason: 'endpoint fora' },
      { change: 'limite', actor: 'operador:rui', reason: 'de 64 para 3: lento' },
      { change: 'fim_do_silenciamento' },
    ]);
  });

  test('one that is muted and inactive is called both, because unmuting it sends nothing', async () => {
    await json('webhook', 'mute', webhookId);
    expect((await run('webhook', 'show', webhookId)).stdout).toMatch(/^https:\S+, muted since \S+\n/);
    await database.sql`update webhooks set active = false where id = ${webhookId}`;
    expect((await run('webhook', 'show', webhookId)).stdout).toMatch(/^https:\S+, inactive, muted since \S+\n/);
    expect((await run('webhook', 'list', '--partner', partnerId)).stdout).toMatch(/inactive, muted +64/);
  });

  test('list of a partner that is unknown is refused', async () => {
    const unknown = refused(await run('webhook', 'list', '--partner', crypto.randomUUID()));
    expect(unknown).toEqual([1, '', expect.stringContaining('there is no partner')]);
  });

  test('list and show come by pages, and say beside the output how to go on', async () => {
    const { id: second } = await insertWebhook(database.sql, partnerId, 'https://second.example/');
    const page = await run('webhook', 'list', '--partner', partnerId, '--limit', '1', '--json');
    expect((JSON.parse(page.stdout) as { id: string }[]).map(({ id }) => id)).toEqual([webhookId]);
    expect(page.stderr).toBe(`there is more: webhook list --partner ${partnerId} --after ${webhookId}\n`);
    const next = await json<{ id: string }[]>('webhook', 'list', '--partner', partnerId, '--after', webhookId);
    expect(next.map(({ id }) => id)).toEqual([second]);
    expect(await json('webhook', 'list', '--partner', partnerId, '--state', 'failing')).toEqual([]);
    await database.sql`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim)
      values (gen_random_uuid(), 1, ${second}, ${partnerId}, 'erro_conexao', now(), 1, 'https://x.example/', 'old/1')`;
    const failing = { id: second, failedLastHour: 1 };
    expect(await json('webhook', 'list', '--partner', partnerId, '--state', 'failing')).toMatchObject([failing]);
    expect(await json('webhook', 'show', second)).toMatchObject(failing);
    expect((await run('webhook', 'list', '--state', 'failing', '--after', second)).code).toBe(2);

    await database.sql`
      insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor, reason)
      select ${webhookId}, ${partnerId}, 'https://x.example/', '{}', true, 'limite', 'test', 'line ' || n
      from generate_series(1, 100) n`;
    const shown = await run('webhook', 'show', webhookId);
    expect(shown.stdout).toContain('line 100');
    const [, before = ''] = /^there is more: webhook show \S+ --before (\d+)$/m.exec(shown.stderr) ?? [];
    const older = await json<{ history: { change: string }[] }>('webhook', 'show', webhookId, '--before', before);
    expect(older.history.map(({ change }) => change)).toEqual(['criacao']);
    expect((await run('webhook', 'show', webhookId, '--before', 'x')).code).toBe(2);
    const partners = await run('partner', 'list', '--limit', '1');
    expect(partners.stderr).toMatch(/^there is more: partner list --after [0-9a-f-]{36}\n$/);
  });

  test("list and show tell a partner's failures beside another one's outage, and say where they have not counted all", async () => {
    const attempts = (webhook: string, partner: string, count: number, agoS: number) => sql`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim, recorded_at)
      select gen_random_uuid(), 1, ${webhook}, ${partner}, 'erro_tls', now(), 1, 'https://x.example/', 'outage/1',
             now() - ${agoS} * interval '1 second'
      from generate_series(1, ${count}::int)`;
    onTestFinished(async () => {
      await sql`delete from attempts where claim = 'outage/1'`;
    });
    const { partnerId: loud, id: failing } = await insertSubscriber(sql, 'https://loud.example/');
    await attempts(failing, loud, 20_000, 0);
    await attempts(webhookId, partnerId, 2, 600);
    const own = { id: webhookId, failedLastHour: 2 };
    expect(await json('webhook', 'list', '--partner', partnerId, '--state', 'failing')).toMatchObject([own]);
    expect(await json('webhook', 'show', webhookId)).toMatchObject(own);
    expect((await run('webhook', 'show', webhookId)).stdout).toContain(', 2 attempts failed in the last hour');

    const note = 'attempts that failed in the last hour are counted of the newest 10000 failures of each kind';
    const all = await run('webhook', 'list', '--state', 'failing', '--limit', '1', '--json');
    expect(all.stderr).toBe(`${note}; there were more\n`);
    expect(JSON.parse(all.stdout)).toMatchObject([{ id: failing, failedLastHour: 10_000 }]);
    const shown = await run('webhook', 'show', failing);
    expect(shown.stdout).toContain(', at least 10000 attempts failed in the last hour');
    expect(shown.stderr).toBe(`${note}, and of the newest 10000 attempts of the partner; there were more\n`);
  });

  test('list and show tell falhando and silent apart from what is well', async () => {
    const stateOf = async () => / (\w+) +64 /.exec((await run('webhook', 'list', '--partner', partnerId)).stdout)?.[1];
    expect(await json('webhook', 'show', webhookId)).toMatchObject({ silent: false, failingSince: null });
    expect(await stateOf()).toBe('active');
    await database.sql`update lanes set window_size = 1 where webhook_id = ${webhookId}`;
    expect(await json('webhook', 'show', webhookId)).toMatchObject({ silent: true });
    expect(await stateOf()).toBe('silent');
    expect(await json('webhook', 'list', '--state', 'falhando')).toEqual([]);
    await database.sql`update lanes set failing_since = '2026-01-31T12:00:00Z' where webhook_id = ${webhookId}`;
    expect(await json('webhook', 'list', '--state', 'falhando')).toMatchObject([{ id: webhookId }]);
    expect(await json('webhook', 'show', webhookId)).toMatchObject({ failingSince: '2026-01-31T12:00:00.000Z' });
    expect(await stateOf()).toBe('falhando');
    expect((await run('webhook', 'show', webhookId)).stdout).toContain(
      'active, falhando since 2026-01-31T12:00:00.000Z',
    );
  });

  test('mute of an inactive one is refused', async () => {
    await database.sql`update webhooks set active = false where id = ${webhookId}`;
    expect(refused(await run('webhook', 'mute', webhookId))).toEqual([1, '', expect.stringContaining('is inactive')]);
  });
});

describe('delivery', () => {
  const first = async () => {
    const [delivery] = await readDeliveries(database.sql, webhookId);
    return delivery?.id ?? '';
  };

  test('cancel ends it as erro with its reason in the evidence; it can be sent again by name; the proof holds', async () => {
    await commitMarginEvents(database.sql, partnerId, 1);
    const id = await first();
    const cancelled = await json('delivery', 'cancel', id, '--reason', 'dado errado', '--author', 'ana');
    expect(cancelled).toEqual({ delivery: id, status: 'erro' });
    const again = refused(await run('delivery', 'cancel', id, '--reason', 'x'));
    expect(again).toEqual([1, '', `carteiro: delivery ${id} is erro already: nothing of it will be sent`]);
    await untilSettled(database.sql);
    await sealAndSign(database.pool);
    const proof = await readProof(database.pool, id);
    expect(checkProof(JSON.stringify(proof), TRUSTED)).toMatchObject({
      fits: true,
      reason: null,
      unsealed: 0,
      facts: { apagado: null },
    });
    expect(checkProof(JSON.stringify({ ...proof, pedidos: [] }), TRUSTED)).toMatchObject({ fits: false });
    const shown = await json('delivery', 'show', id);
    expect(shown).toMatchObject({
      delivery: { status: 'erro', total_tentativas: 0, concluida_em: expect.any(String) as string },
      orders: [{ kind: 'cancelamento', actor: 'operador:ana', reason: 'dado errado' }],
    });
    expect(await json('delivery', 'resend', id)).toEqual({ delivery: id, status: 'pendente', muted: false });
    const day = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10);
    expect((await run('audit', 'balance', '--from', day, '--to', day)).code).toBe(0);
  });

  test('that waits for another of its loan is shown so, and a resend does not promise that it leaves at once', async () => {
    await commitMarginEvents(database.sql, partnerId, 1);
    const id = await first();
    expect((await run('delivery', 'resend', id)).stdout).toBe('pendente and due now\n');
    await database.sql`update lanes set in_order = true where webhook_id = ${webhookId}`;
    await database.sql`update deliveries set next_attempt_at = 'infinity' where id = ${id}`;
    expect((await run('delivery', 'show', id)).stdout).toContain('pendente, waits for another delivery of its loan');
    expect((await run('delivery', 'resend', id)).stdout).toContain('unless one before it of its loan is pendente');
  });

  test('in flight is left alone by cancel; of a webhook that is inactive none is sent again', async () => {
    await commitMarginEvents(database.sql, partnerId, 1);
    const id = await first();
    await insertClaim(database.sql, 'p/1', [id]);
    expect(refused(await run('delivery', 'cancel', id, '--reason', 'x'))[2]).toContain('is in flight');
    await database.sql`update claims set at = at - interval '1 minute'`;
    await json('delivery', 'cancel', id, '--reason', 'x');
    const attempts = await database.sql`select outcome from attempts where delivery_id = ${id}`;
    expect(attempts).toEqual([{ outcome: 'desconhecido' }]);
    await database.sql`update webhooks set active = false where id = ${webhookId}`;
    expect(refused(await run('delivery', 'resend', id))).toEqual([
      1,
      '',
      expect.stringContaining('re-activate it first'),
    ]);
  });
});

describe('what a poller has claimed', () => {
  test.each([
    ['partner', 'deactivate', 'suspensa'],
    ['webhook', 'mute', 'pendente'],
  ])('is waited for by %s %s, because its POST may only be about to leave', async (group, name, status) => {
    await commitMarginEvents(sql, partnerId, 1);
    const [claimed] = await readDeliveries(sql, webhookId);
    await insertClaim(sql, `${group}/1`, [String(claimed?.id)]);
    const running = startCommand([group, name, group === 'partner' ? partnerId : webhookId, '--json'], env());
    const ended = running.end();
    const over = new AbortController();
    void ended.then(() => over.abort());
    // It looks again and again, for as long as the claim stands.
    const looks = new Set<string>();
    while (looks.size < 2 && !over.signal.aborted) {
      const rows = await sql<{ at: string }[]>`
        select query_start::text as at from pg_stat_activity
        where datname = current_database() and application_name = 'carteiro job' and state = 'idle'
          and query like '%as count from flights()%'`;
      for (const { at } of rows) looks.add(at);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(over.signal.aborted).toBe(false);
    // What a failed attempt leaves.
    await sql`update deliveries set attempts = 1 where webhook_id = ${webhookId}`;
    await sql`
      update deliveries set failures = 1, next_attempt_at = now() + interval '1 minute'
      where webhook_id = ${webhookId}`;
    const { code, stdout } = await ended;
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { wereInFlight: 1 }]);
    expect((await readDeliveries(sql, webhookId)).map((row) => row.status)).toEqual([status]);
  });
});
