/** What SQL shows auditors, HTTP shows: every kind of rows, listed, narrowed and exported. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openNote } from '../../src/audit/checkpoint/note.ts';
import { KINDS, type KindName } from '../../src/audit/lists/kinds.ts';
import { columnsOf, type Kind } from '../../src/audit/lists/kind.ts';
import type { Row } from '../../src/audit/lists/list.ts';
import type { ExportManifest } from '../../src/contract/resources/audit-resource.ts';
import { indexWorkers } from '../../src/core/workers/worker-index.ts';
import { startApi, WORKER_KEY } from '../support/api.ts';
import { sealAndSign, SIGNER } from '../support/checkpoint.ts';
import { connectTo } from '../support/connect.ts';
import { createLogin } from '../support/logins.ts';
import { commitEvents, insertPartner, insertSubscriber, insertWebhook } from '../support/outbox.ts';
import { itemsOf, type Page } from '../support/pages.ts';
import { untilSettled } from '../support/settled.ts';

const CPF = '529.982.247-25';

const api = await startApi();
const token = await api.token(undefined, ['auditoria:read']);
const granted = await api.token(undefined, ['auditoria:read', 'auditoria:cpf']);
const { sql, pool } = api.database;
const partnerId = await insertPartner(sql);
const webhookId = (await insertWebhook(sql, partnerId, `https://partner.example/${CPF}`)).id;
const { partnerId: other } = await insertSubscriber(sql, 'https://other.example/');
await commitEvents(sql, partnerId, 7);
await commitEvents(sql, other, 5);
await sql`update events set actor = ${CPF}`;
await sql`
  insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, error, answer)
  select id, 1, event_id, webhook_id, partner_id, 'resposta_nao_2xx', 500, now(), 1, 'https://partner.example/?a=1', 'p/1', ${`cpf ${CPF}`}, ${`\n${CPF}`}
  from deliveries`;
for (let number = 0; number < 3; number += 1) {
  await sql`
    insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor, reason)
    select 'reenvio', webhook_id, partner_id, array_agg(id order by id), ${`ana ${CPF}`}, ${`=1 ${number}`}
    from deliveries where webhook_id = ${webhookId} group by webhook_id, partner_id`;
  await sql`
    insert into webhook_history (webhook_id, partner_id, url, events, active, change, actor)
    select id, partner_id, url, events, active, 'alteracao', ${CPF} from webhooks where id = ${webhookId}`;
  await sql`update partners set name = ${`name ${number}`} where id = ${partnerId}`;
  await sql`
    insert into cpf_reads (actor, operation, asked, events)
    select ${`ana ${CPF}`}, 'GET /v1/auditoria/eventos', '/', array_agg(id) from events where partner_id = ${partnerId}`;
  await sql`update event_types set version = version + 1 where name = 'margem.falhou'`;
  await sql`insert into balance_verdicts (from_day, to_day, closes, differences) values ('2026-01-01', '2026-01-31', true, 0)`;
  await sql`
    insert into verify_verdicts (since, seals, rows, size, root, findings, found, finished)
    values (0, 1, 1, 1, sha256('x'), ${number}, '[]', true)`;
  await untilSettled(sql);
  await sealAndSign(pool);
}

const NAMES = Object.keys(KINDS) as KindName[];
const EXPORTED = NAMES.filter((name) => 'cut' in KINDS[name]);

function readAll(name: KindName, query: Record<string, string> = {}, as = token): Promise<Row[]> {
  const path = `/v1/auditoria/${name}?${new URLSearchParams(query).toString()}`;
  return itemsOf((asked) => api.send<Page<Row>>('GET', asked, { token: as }), path);
}

/** As HTTP writes it. */
function wired(kind: Kind, row: Record<string, unknown>): Row {
  const cell = (column: string, value: unknown) => {
    if (value instanceof Date) return value.toISOString();
    if (Buffer.isBuffer(value)) return value.toString('hex');
    return column === 'posicao' || column === 'numero' ? Number(value) : value;
  };
  return Object.fromEntries(columnsOf(kind).map((column) => [column, cell(column, row[column])])) as Row;
}

describe.each(NAMES)('/v1/auditoria/%s', (name) => {
  const kind: Kind = KINDS[name];

  test('shows an auditor the rows of the view, masked, and unmasked to whom SQL grants as much', async () => {
    for (const [roles, as] of [
      [['carteiro_auditor'], token],
      [['carteiro_auditor', 'carteiro_auditor_cpf'], granted],
    ] as const) {
      const { url } = await createLogin(api.database, ...roles);
      const sql = connectTo(url, { connection: {} });
      const key = Object.keys(kind.key).map((column) => `${column} desc`);
      const rows = await sql.unsafe(`select * from carteiro_auditoria.${kind.view} order by ${key.join(', ')}`);
      const listed = await readAll(name, { limite: '2' }, as);
      expect(listed.length).toBeGreaterThan(2);
      expect(listed).toEqual(rows.map((row) => wired(kind, row)));
      expect(JSON.stringify(listed).includes(CPF)).toBe(as === granted && kind.masked.length > 0);
    }
  });

  test('is open to auditors alone', async () => {
    const path = `/v1/auditoria/${name}`;
    const confused = await api.token(partnerId, ['auditoria:read', 'webhooks:read']);
    expect((await api.send('GET', path, { token: confused })).status).toBe(403);
    expect((await api.send('GET', path, { token: await api.token(undefined, ['operador']) })).status).toBe(403);
    expect((await api.send('GET', path, {})).status).toBe(401);
  });

  test('refuses unknown filters and a cursor of other filters', async () => {
    const path = `/v1/auditoria/${name}`;
    const { body } = await api.send<Page<Row>>('GET', `${path}?limite=1`, { token });
    const other = name === 'selos' ? 'tentativas' : name;
    const filter = name === 'selos' ? '' : `&parceiro_id=${partnerId}`;
    const foreign = `/v1/auditoria/${other}?cursor=${body.proximo_cursor}${filter}`;
    for (const wrong of [`${path}?cpf=1`, `${path}?limite=0`, `${path}?formato=xml`, foreign])
      expect([wrong, (await api.send('GET', wrong, { token })).status]).toEqual([wrong, 400]);
  });
});

describe('a filter brings what it names and nothing else', () => {
  const cases: [KindName, (row: Row) => Record<string, string>][] = [
    ['entregas', ({ evento_id: event }) => ({ evento_id: String(event) })],
    ['entregas', () => ({ status: 'pendente' })],
    ['entregas', () => ({ status: 'erro' })],
    [
      'entregas',
      ({ webhook_id: webhook, parceiro_id: partner }) => ({
        webhook_id: String(webhook),
        parceiro_id: String(partner),
      }),
    ],
    ['eventos', ({ evento, parceiro_id: partner }) => ({ evento: String(evento), parceiro_id: String(partner) })],
    ['pedidos', () => ({ tipo: 'reenvio' })],
    ['pedidos', () => ({ tipo: 'teste' })],
    ['pedidos', ({ webhook_id: webhook }) => ({ webhook_id: String(webhook) })],
    ['historico', () => ({ sobre: 'parceiro' })],
    ['historico', ({ parceiro_id: partner }) => ({ parceiro_id: String(partner), sobre: 'webhook' })],
  ];
  test.each(cases)('%s %#', async (name, filterOf) => {
    const all = await readAll(name);
    const filter = filterOf(all[1] as Row);
    const fits = (row: Row) => Object.entries(filter).every(([column, value]) => row[column] === value);
    expect(await readAll(name, { ...filter, limite: '2' })).toEqual(all.filter(fits));
  });

  test('an event by its id and a loan’s events', async () => {
    const [, some] = (await readAll('eventos')) as { id: string; fluxo: string }[];
    expect(await readAll('eventos', { evento_id: some?.id ?? '' })).toMatchObject([{ id: some?.id }]);
    expect(await readAll('eventos', { emprestimo_id: some?.fluxo ?? '' })).toMatchObject([{ fluxo: some?.fluxo }]);
  });

  test('a period, by the instant or the day', async () => {
    for (const name of ['entregas', 'eventos', 'pedidos', 'historico'] as const) {
      const all = await readAll(name);
      expect(await readAll(name, { de: '2020-01-01', limite: '3' })).toEqual(all);
      expect(await readAll(name, { ate: '2020-01-01' })).toEqual([]);
      expect(await readAll(name, { de: '2099-01-01' })).toEqual([]);
    }
    const orders = await readAll('pedidos');
    const at = String(orders[1]?.['pedido_em']);
    expect(await readAll('pedidos', { de: at, ate: at })).toEqual(orders.filter((row) => row['pedido_em'] === at));
  });
});

async function exported(path: string, as = token) {
  // A file ends before the oldest open transaction of the server, which may be another test's.
  await untilSettled(sql);
  const answer = await api.app.request(path, { headers: { Authorization: `Bearer ${as}` } });
  expect([path, answer.status]).toEqual([path, 200]);
  const manifest = answer.headers.get('X-Carteiro-Manifesto') ?? '';
  return { answer, manifest, bytes: Buffer.from(await answer.arrayBuffer()) };
}

describe('who read this CPF', () => {
  const digestOf = (as: string) =>
    api.send<{ resumo: string }>('POST', '/v1/auditoria/leituras/resumo', { token: as, body: { cpf: '52998224725' } });

  test('is asked by its keyed digest, over HTTP and in SQL, and files are never left out', async () => {
    const [event, another] = await sql<{ id: string }[]>`select id from events order by id limit 2`;
    await sql`update events set data = jsonb_set(data::jsonb, '{nota}', '"52998224725"')::json where id = ${event?.id ?? ''}`;
    await indexWorkers(pool, WORKER_KEY);
    const { resumo } = (await digestOf(granted)).body;
    const before = (await readAll('leituras', { resumo }, token)).length;
    await readAll('eventos', { evento_id: event?.id ?? '' }, granted);
    await readAll('eventos', { evento_id: another?.id ?? '' }, granted);
    await exported('/v1/auditoria/eventos?formato=csv', granted);
    // Has no row's texts.
    const balance = await api.send('GET', '/v1/auditoria/balanco?de=2026-01-01&ate=2026-01-02', { token: granted });
    expect(balance.status).toBe(200);
    const found = await readAll('leituras', { resumo }, token);
    expect(found.slice(0, found.length - before)).toMatchObject([
      { eventos: null, pedido: expect.stringContaining('formato=csv') as string },
      { eventos: [event?.id], operacao: 'GET /v1/auditoria/eventos' },
    ]);
    const { url } = await createLogin(api.database, 'carteiro_auditor', 'carteiro_auditor_cpf');
    const auditor = connectTo(url, { connection: {} });
    const rows = await auditor`
      select posicao::int from carteiro_auditoria.leituras_cpf
      where eventos is null or eventos && array(
        select evento_id from carteiro_auditoria.trabalhadores where resumo = decode(${resumo}, 'hex'))
      order by lida_em desc, posicao desc`;
    expect(found.map(({ posicao }) => posicao)).toEqual(rows.map(({ posicao }) => posicao as number));
    expect(await readAll('leituras', { evento_id: event?.id ?? '' }, token)).toEqual(found);
  });

  test('needs the scope auditoria:cpf for the digest, and a view that others may not read', async () => {
    expect((await digestOf(token)).status).toBe(403);
    const { url } = await createLogin(api.database, 'carteiro_auditor');
    const auditor = connectTo(url, { connection: {} });
    await expect(auditor`select from carteiro_auditoria.trabalhadores`).rejects.toThrow('permission denied');
  });
});

test('attempts are listed by several outcomes', async () => {
  await sql`update attempts set outcome = 'tempo_esgotado', status_code = null where ctid = (select min(ctid) from attempts)`;
  const all = await readAll('tentativas', { limite: '2' });
  const listed = await readAll('tentativas', { resultado: 'tempo_esgotado,resposta_nao_2xx', limite: '2' });
  expect(listed).toEqual(all);
  expect(new Set(listed.map(({ resultado }) => resultado)).size).toBe(2);
  expect(await readAll('tentativas', { resultado: 'tempo_esgotado,erro_tls' })).toHaveLength(1);
  const wrong = await api.send('GET', '/v1/auditoria/tentativas?resultado=tempo_esgotado,x', { token });
  expect([wrong.status, wrong.body.detalhes?.[0]?.campo]).toEqual([400, 'resultado']);
});

describe.each(EXPORTED)('the export of %s', (name) => {
  const key = Object.keys(KINDS[name].key);

  test('holds every row, oldest first, and its signed manifest their digest and the newest checkpoint', async () => {
    const { manifest, bytes, answer } = await exported(`/v1/auditoria/${name}?formato=ndjson`);
    expect(answer.headers.get('Content-Type')).toBe('application/x-ndjson');
    expect(answer.headers.get('Content-Disposition')).toContain(`"${name}.ndjson"`);
    const lines = bytes.toString().trimEnd().split('\n');
    const { manifesto } = JSON.parse(lines.pop() ?? '') as { manifesto: ExportManifest };
    const before = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    expect(lines.map((line) => JSON.parse(line) as Row)).toEqual((await readAll(name)).toReversed());
    const [head] = await sql<[{ note: string }]>`select note from checkpoints order by size desc limit 1`;
    expect(manifesto).toMatchObject({
      linhas: lines.length,
      sha256: createHash('sha256').update(before).digest('hex'),
      filtros: { formato: 'ndjson' },
      checkpoint: head.note,
    });
    expect(openNote(manifesto.assinatura ?? '', [SIGNER])?.signedBy).toHaveLength(1);
    const { body } = await api.send<ExportManifest>('GET', manifest, { token });
    expect(body).toMatchObject({ linhas: lines.length, sha256: manifesto.sha256 });
  });

  test('goes on behind any of its rows after a cut, and both parts are the whole, whatever was added meanwhile', async () => {
    const { manifest, bytes } = await exported(`/v1/auditoria/${name}?formato=csv`);
    const rows = (await readAll(name)).toReversed();
    const lines = bytes.toString().split(/(?<=\r\n)/);
    const corte = new URL(manifest, 'http://x').searchParams.get('corte') ?? '';
    await api.database.sql`
      insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor)
      select 'teste', webhook_id, partner_id, array[id], 'later' from deliveries limit 1`;
    await untilSettled(api.database.sql);
    await sealAndSign(api.database.pool);
    for (const [index, row] of rows.entries()) {
      const depois = encodeURIComponent(key.map((column) => String(row[column])).join(','));
      const rest = await exported(`/v1/auditoria/${name}?formato=csv&corte=${corte}&depois=${depois}`);
      expect(lines.slice(0, index + 2).join('') + rest.bytes.toString()).toBe(bytes.toString());
    }
    const { body } = await api.send<ExportManifest>('GET', manifest, { token });
    expect(body.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    const wrong = await api.send('GET', `/v1/auditoria/${name}?formato=csv&corte=${corte}&depois=x`, { token });
    expect(wrong.body.detalhes?.[0]).toMatchObject({ campo: 'depois' });
    const above = `/v1/auditoria/${name}?formato=csv&corte=9-99999999999&depois=${encodeURIComponent(key.map((column) => String(rows[0]?.[column])).join(','))}`;
    expect((await api.send('GET', above, { token })).body.detalhes?.[0]).toMatchObject({ campo: 'corte' });
  });

  test('is logged where it shows CPFs', async () => {
    const count = async () =>
      (await api.database.sql`select from cpf_reads where operation = ${`GET /v1/auditoria/${name}`}`).length;
    const before = await count();
    await exported(`/v1/auditoria/${name}?formato=csv`);
    expect(await count()).toBe(before);
    await exported(`/v1/auditoria/${name}?formato=csv`, granted);
    expect(await count()).toBe(before + 1);
  });
});

test('deliveries change, so no file of them is made', async () => {
  expect((await api.send('GET', '/v1/auditoria/entregas?formato=csv', { token })).status).toBe(400);
});
