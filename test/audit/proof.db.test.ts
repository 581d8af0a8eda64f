import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkProof } from '../../src/audit/proof/check-proof.ts';
import { readHead } from '../../src/audit/seals/chain.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import type { MaskedProof, Proof } from '../../src/contract/resources/audit-resource.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';

let api: TestApi;
let proof: Proof;
let other: Proof;

async function readProof(deliveryId: string) {
  const token = await api.token(undefined, ['auditoria:read', 'auditoria:cpf']);
  return api.send<Proof>('GET', `/v1/auditoria/entregas/${deliveryId}/prova`, { token });
}

beforeAll(async () => {
  api = await startApi();
  const { sql, pool } = api.database;
  const partnerId = await insertPartner(sql);
  await insertWebhook(sql, partnerId, 'https://partner.example/');
  for (let count = 0; count < 3; count += 1) {
    await commitEvents(sql, partnerId, 4);
    await sql`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, duration_ms, url, claim, error)
      select id, ${count + 1}, webhook_id, partner_id, 'erro_conexao', now(), 1, 'https://partner.example/', 'test', 'não há rota “lá”'
      from deliveries`;
    await untilSettled(sql);
    await sealAll(pool);
  }
  const rows = await sql<{ id: string }[]>`select id from deliveries order by id`;
  proof = (await readProof(rows[0]?.id ?? '')).body;
  other = (await readProof(rows[1]?.id ?? '')).body;
});
afterAll(() => api.close());

const check = (changed: Proof, anchor: string | null = null) =>
  checkProof(JSON.stringify(changed), anchor === null ? null : readHead(anchor)).reason;

const anchorOf = (seal: Proof['cadeia'][number] | undefined) => `${seal?.numero}:${seal?.hash}`;

describe('a proof', () => {
  test('holds event, bytes, attempts and seals, and passes, also against anchored heads', async () => {
    expect(proof.tentativas).toHaveLength(3);
    expect(JSON.parse(Buffer.from(proof.corpo_base64, 'base64').toString())).toMatchObject({
      evento: 'desembolso.falhou',
    });
    const head = proof.cadeia.at(-1);
    expect(proof).toMatchObject({ cadeia_completa: true, evento: { selo: 1 }, cabeca: { numero: head?.numero } });
    expect(checkProof(JSON.stringify(proof), null)).toEqual({ fits: true, reason: null, unsealed: 0 });
    for (const seal of proof.cadeia) expect(check(proof, anchorOf(seal))).toBeNull();
  });

  test('of an unknown delivery is a 404', async () => {
    expect((await readProof('00000000-0000-7000-8000-000000000000')).status).toBe(404);
  });

  const first = <T>(list: readonly T[]): T => list[0] as T;
  test.each<[string, (changed: Proof) => void, string]>([
    ['another body', (p) => (p.corpo_base64 = Buffer.from('{}').toString('base64')), 'body'],
    [
      'another body and its digest',
      (p) => Object.assign(p, { corpo_base64: other.corpo_base64, corpo_sha256: other.corpo_sha256 }),
      'another body',
    ],
    [
      'a changed line',
      (p) => (first(p.tentativas).linha = first(p.tentativas).linha.replace('erro_conexao', 'entregue')),
      'leaf',
    ],
    [
      'a well sealed attempt of another delivery',
      (p) => (p.tentativas[0] = first(other.tentativas)),
      'another delivery',
    ],
    ['a well sealed event of another delivery', (p) => (p.evento = other.evento), 'another one'],
    ['the event taken out', (p) => (p.evento = null), 'the event is missing'],
    [
      'the event taken out and another body',
      (p) => Object.assign(p, { evento: null, corpo_base64: other.corpo_base64, corpo_sha256: other.corpo_sha256 }),
      'the event is missing',
    ],
    ['another delivery’s id', (p) => (p.entrega.id = other.entrega.id), 'another delivery'],
    ['another webhook', (p) => (p.entrega.webhook_id = other.entrega.id), 'webhook'],
    ['a leaf taken out', (p) => first(first(p.lotes).abertos).folhas.shift(), 'lea'],
    ['a leaf put in', (p) => first(first(p.lotes).abertos).folhas.push('00'.repeat(32)), 'leaves are not those'],
    ['a group taken out', (p) => first(p.lotes).grupos.pop(), 'leaves are not those'],
    ['another group', (p) => (first(p.lotes).grupos[0] = '00'.repeat(32)), 'leaves are not those'],
    ['a seal’s other count', (p) => (first(p.cadeia).linhas += 1), 'seal'],
    [
      'a seal’s other time',
      (p) => ((p.cadeia[1] as Proof['cadeia'][number]).selado_em = '2026-01-01T00:00:00.000Z'),
      'fields were changed',
    ],
    ['a seal taken out', (p) => p.cadeia.splice(1, 1), 'seal'],
    ['an attempt taken out', (p) => p.tentativas.shift(), 'attempt 1 is missing'],
    ['a success that no attempt had', (p) => (p.entrega.status = 'entregue'), 'arrived by no attempt'],
    [
      'a failure without attempts',
      (p) => (Object.assign(p, { tentativas: [] }).entrega.status = 'erro'),
      'without an attempt',
    ],
    ['another head', (p) => Object.assign(p.cabeca ?? {}, { hash: '00'.repeat(32) }), 'head'],
  ])('with %s does not pass', (_, change, reason) => {
    const changed = structuredClone(proof);
    change(changed);
    expect(check(changed)).toContain(reason);
  });

  test('does not pass against another head, nor does what is no proof', () => {
    expect(check(proof, `2:${'00'.repeat(32)}`)).toContain('anchored');
    expect(check(proof, `9:${'00'.repeat(32)}`)).toContain('does not reach');
    expect(checkProof('{}', null).reason).toContain('no proof');
    expect(checkProof('not json', null).reason).toContain('no proof');
  });

  test('of a test is evidence as any other', async () => {
    const { sql, pool } = api.database;
    const [row] = await sql<[{ id: string }]>`
      with d as (select make_test_delivery(id, partner_id, 'webhook.teste', '{}', 'test') as id, id as webhook_id, partner_id from webhooks),
      o as (insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor)
        select 'teste', webhook_id, partner_id, array[id], 'test' from d)
      select id from d`;
    await untilSettled(sql);
    await sealAll(pool);
    const { body } = await readProof(row.id);
    expect(checkProof(JSON.stringify(body), null)).toMatchObject({ fits: true, reason: null });
    expect(checkProof(JSON.stringify({ ...body, evento: null }), null)).toMatchObject({ fits: false });
    await sql`delete from deliveries where id = ${row.id}`;
  });

  test('tells which of its lines no seal covers yet', async () => {
    const { sql } = api.database;
    await sql`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim)
      select id, 4, webhook_id, partner_id, 'entregue', 200, now(), 1, 'https://partner.example/', 'test' from deliveries`;
    await sql`update deliveries set status = 'entregue', next_attempt_at = null, attempts = 4, finished_at = now()`;
    const { body } = await readProof(proof.entrega.id);
    expect(checkProof(JSON.stringify(body), null)).toEqual({ fits: true, reason: null, unsealed: 1 });
    for (const status of ['erro', 'pendente', 'suspensa'] as const) {
      expect(check({ ...body, entrega: { ...body.entrega, status } })).toContain('arrived, and its status says');
    }
  });

  test('of rows that were changed after they were sealed does not pass', async () => {
    await api.database
      .sql`update attempts set url = 'https://other.example/' where delivery_id = ${other.entrega.id} and number = 1`;
    expect(check((await readProof(proof.entrega.id)).body)).toContain('leaves are not those');
  });
});

describe('a proof without the grant for CPFs', () => {
  const CPF = '52998224725';
  let hidden: MaskedProof;
  let text: string;
  let whole: Proof;

  beforeAll(async () => {
    const { sql, pool } = api.database;
    const [{ id: partnerId }] = await sql<[{ id: string }]>`select id from partners`;
    await insertWebhook(sql, partnerId, 'https://partner.example/', ['autorizacao.confirmada']);
    await sql`
      select append_event(uuidv7(), 0, 'autorizacao.confirmada', ${partnerId}, json_build_object('autorizacao_id', uuidv7(), 'cpf_trabalhador', ${CPF}::text, 'status', 'confirmada', 'origem', 'web'), 'cpf 529.982.247-25')`;
    const [row] = await sql<[{ id: string }]>`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, answer)
      select d.id, 1, d.webhook_id, d.partner_id, 'resposta_nao_2xx', 500, now(), 1, 'https://partner.example/?token=abc', 'test', '529–982–247–25'
      from deliveries d join messages m using (event_id) where m.type = 'autorizacao.confirmada' returning delivery_id as id`;
    await untilSettled(sql);
    await sealAll(pool);
    whole = (await readProof(row.id)).body;
    const token = await api.token(undefined, ['auditoria:read']);
    const answer = await api.send<MaskedProof>('GET', `/v1/auditoria/entregas/${row.id}/prova`, { token });
    [hidden, text] = [answer.body, answer.text];
  });

  test('shows no CPF, no query, and nothing by which a CPF could be found by trying', () => {
    expect(checkProof(JSON.stringify(whole), null).fits).toBe(true);
    expect(text).not.toContain(CPF);
    expect(text).not.toMatch(/982.{0,3}247|token=|353239e28093/);
    expect(text).toContain('***********');
    const leaves = [whole.evento, ...whole.tentativas].map((line) => line?.folha ?? '');
    for (const digest of [whole.corpo_sha256, ...leaves]) expect(text).not.toContain(digest);
    expect(text).not.toContain(whole.corpo_base64);
    expect(hidden).toMatchObject({
      formato: 'carteiro-prova-mascarada-1',
      retido: expect.stringContaining('auditoria:cpf') as string,
    });
    expect(JSON.parse(hidden.corpo)).toMatchObject({
      evento: 'autorizacao.confirmada',
      data: { cpf_trabalhador: '***********' },
    });
  });

  test('is checked as far as it goes: its chain up to an anchored head, its rows’ delivery, its status', () => {
    const judge = (changed: MaskedProof, anchor: string | null = null) =>
      checkProof(JSON.stringify(changed), anchor === null ? null : readHead(anchor));
    const open = { fits: null, unsealed: 0, reason: expect.stringContaining('masked') as string };
    expect(judge(hidden)).toEqual(open);
    expect(judge(hidden, anchorOf(hidden.cadeia.at(-1)))).toEqual(open);
    const changes: [(p: MaskedProof) => void, string][] = [
      [(p) => ((p.cadeia[0] as Proof['cadeia'][number]).linhas += 1), 'fields were changed'],
      [(p) => p.cadeia.shift(), 'is not in the chain'],
      [(p) => (p.evento = null), 'the event is missing'],
      [(p) => (p.entrega.id = whole.entrega.evento_id), 'another delivery'],
      [(p) => (p.entrega.evento_id = whole.entrega.id), 'another one'],
      [(p) => (p.entrega.status = 'entregue'), 'arrived by no attempt'],
    ];
    for (const [change, reason] of changes) {
      const changed = structuredClone(hidden);
      change(changed);
      expect(judge(changed)).toMatchObject({ fits: false, reason: expect.stringContaining(reason) as string });
    }
    expect(judge(hidden, `${hidden.cadeia.at(-1)?.numero}:${'00'.repeat(32)}`)).toMatchObject({ fits: false });
  });
});
