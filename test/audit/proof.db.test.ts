import { describe, expect, test } from 'vitest';
import { type Checkpoint, openCheckpoint } from '../../src/audit/checkpoint/checkpoint.ts';
import { makeKey, readSigner, type Signer } from '../../src/audit/checkpoint/note.ts';
import { checkProof } from '../../src/audit/proof/check-proof.ts';
import { readEntry } from '../../src/audit/seals/entry.ts';
import type { Scope } from '../../src/contract/statuses.ts';
import type { Proof, ProvedRow } from '../../src/contract/resources/audit-resource.ts';
import { startApi } from '../support/api.ts';
import { sealAndSign, SIGNER, TRUSTED } from '../support/checkpoint.ts';
import { advance, startEngine } from '../support/engine.ts';
import { commitEvents, insertSubscriber, insertWebhook } from '../support/outbox.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

async function readProof(deliveryId: string, query = '', scopes: Scope[] = ['auditoria:read', 'auditoria:cpf']) {
  const token = await api.token(undefined, scopes);
  return api.send<Proof>('GET', `/v1/auditoria/entregas/${deliveryId}/prova${query}`, { token });
}

/** Three deliveries, each of which fails once and then arrives. */
const api = await startApi();
const receiver = await startReceiver();
const { pool, sql } = api.database;
const { partnerId } = await insertSubscriber(sql, receiver.url);
const engine = startEngine(pool);
receiver.answerWith((post, response) =>
  response.writeHead(500).end(`não: ${String(post.headers['x-webhook-delivery'])}`),
);
await commitEvents(sql, partnerId, 3);
await engine.poll();
await untilSettled(sql);
await sealAndSign(pool);
receiver.answerWith(status(200));
advance(engine, 120);
await engine.poll();
await untilSettled(sql);
await sealAndSign(pool);
const rows = await sql<{ id: string }[]>`select id from deliveries order by id`;
const proof = (await readProof(rows[0]?.id ?? '')).body;
const other = (await readProof(rows[1]?.id ?? '')).body;

const check = (changed: Proof, trusted = TRUSTED) => checkProof(JSON.stringify(changed), trusted);

const first = <T>(list: readonly T[]): T => list[0] as T;

/** The row with the first bytes `from` of its entry replaced. */
function edited(row: ProvedRow, from: string, to: string): void {
  const entry = Buffer.from(row.entrada ?? '', 'base64')
    .toString('latin1')
    .replace(from, to);
  row.entrada = Buffer.from(entry, 'latin1').toString('base64');
}

describe('a proof', () => {
  test('leads event, bytes, attempts and answers to a checkpoint that its key has signed', () => {
    expect(proof.tentativas).toHaveLength(2);
    expect(JSON.parse(proof.corpo)).toMatchObject({ evento: 'desembolso.falhou' });
    expect(Buffer.from(first(proof.tentativas).resposta ?? '', 'base64').toString()).toContain(proof.entrega.id);
    expect(check(proof)).toMatchObject({ fits: true, reason: null, unsealed: 0, facts: { apagado: null } });
    for (const row of [proof.evento as ProvedRow, ...proof.tentativas]) {
      expect(readEntry(Buffer.from(row.entrada ?? '', 'base64'))).toEqual({ source: row.tabela, fields: row.campos });
    }
  });

  test('is never true without a key, and false by another key', () => {
    expect(check(proof, { keys: [] })).toMatchObject({
      fits: null,
      reason: expect.stringContaining('--key') as string,
    });
    const stranger = readSigner(makeKey('carteiro.test/log')) as Signer;
    expect(check(proof, { keys: [stranger] })).toMatchObject({ fits: false });
    expect(check(proof, { keys: [stranger, SIGNER] })).toMatchObject({ fits: true });
  });

  test('is made under the checkpoint that was kept, and is false where the log forked from it', async () => {
    const [old] = await api.database.sql<
      [{ size: number; note: string }]
    >`select size::int, note from checkpoints order by size`;
    const kept = openCheckpoint(old.note, [SIGNER]) as Checkpoint;
    expect(check(proof, { ...TRUSTED, checkpoint: kept })).toMatchObject({
      fits: null,
      reason: expect.stringContaining(`?tamanho=${kept.size}`) as string,
    });
    const under = (await readProof(proof.entrega.id, `?tamanho=${kept.size}`)).body;
    expect(check(under, { ...TRUSTED, checkpoint: kept })).toMatchObject({ fits: null, unsealed: 1 });
    const newest = openCheckpoint(proof.checkpoint ?? '', [SIGNER]) as Checkpoint;
    expect(check(proof, { ...TRUSTED, checkpoint: newest })).toMatchObject({ fits: true });
    const forked = { ...newest, root: Buffer.alloc(32) };
    expect(check(proof, { ...TRUSTED, checkpoint: forked })).toMatchObject({ fits: false });
  });

  test('of an unknown delivery is a 404', async () => {
    expect((await readProof('00000000-0000-7000-8000-000000000000')).status).toBe(404);
  });

  const last = <T>(list: readonly T[]): T => list.at(-1) as T;
  test.each<[string, (changed: Proof) => void, string]>([
    ['another body', (p) => (p.corpo = p.corpo.replace('desembolso', 'DESEMBOLSO')), 'another body'],
    ['the body of another delivery', (p) => (p.corpo = other.corpo), 'another body'],
    [
      'body, salt and event of another delivery',
      (p) => Object.assign(p, { corpo: other.corpo, sal: other.sal, evento: other.evento }),
      'another one',
    ],
    [
      'a changed row',
      (p) => edited(first(p.tentativas), 'resposta_nao_2xx', 'erro_conexao    '),
      'does not lead to seal',
    ],
    ['another answer', (p) => (first(p.tentativas).resposta = 'c2lt'), 'answered otherwise'],
    ['an answer taken out', (p) => (first(p.tentativas).resposta = null), 'is missing'],
    [
      'a well sealed attempt of another delivery',
      (p) => (p.tentativas[0] = first(other.tentativas)),
      'of another delivery',
    ],
    ['the event taken out', (p) => (p.evento = null), 'the event is missing'],
    ['another delivery’s id', (p) => (p.entrega.id = other.entrega.id), 'of another delivery'],
    ['another webhook', (p) => (p.entrega.webhook_id = other.entrega.id), 'webhook'],
    [
      'another place',
      (p) => (first(p.tentativas).indice = (first(p.tentativas).indice ?? 0) ^ 1),
      'does not lead to seal',
    ],
    ['a hash of the path taken out', (p) => first(p.tentativas).caminho?.shift(), 'does not lead to seal'],
    [
      'a seal’s other count',
      (p) => (first(p.selos).entrada = first(p.selos).entrada.replace(/\n(\d+)\n(?=.{44}\n)/, '\n9$1\n')),
      'does not lead',
    ],
    ['a seal’s other time', (p) => (first(p.selos).entrada = first(p.selos).entrada.replace('.', ',')), 'is no seal'],
    ['a seal taken out', (p) => p.selos.splice(1, 1), 'is not in the file'],
    ['an attempt taken out', (p) => p.tentativas.shift(), 'attempt 1 is missing'],
    ['a status that no attempt has', (p) => (p.entrega.status = 'erro'), 'although attempts were left'],
    ['the success taken out', (p) => p.tentativas.pop(), 'no row is in seal'],
    [
      'another checkpoint',
      (p) => (p.checkpoint = (p.checkpoint ?? '').replace(/\n(\d+)\n/, '\n9$1\n')),
      'does not lead to the checkpoint',
    ],
    ['no signature', (p) => (p.checkpoint = (p.checkpoint ?? '').split('—')[0] ?? ''), 'not signed'],
  ])('with %s does not pass', (_, change, reason) => {
    const changed = structuredClone(proof);
    change(changed);
    expect(check(changed)).toMatchObject({ fits: false, reason: expect.stringContaining(reason) as string });
  });

  test.each<[string, (changed: Proof) => void]>([
    [
      'no seal at any row',
      (p) => {
        p.selos = [];
        for (const row of [p.evento as ProvedRow, ...p.tentativas])
          Object.assign(row, { selo: null, indice: undefined, caminho: undefined });
      },
    ],
    ['another body in a file that calls itself masked', (p) => Object.assign(p, { retido: 'x', corpo: '{}' })],
    ['no way to the checkpoint', (p) => Object.assign(last(p.selos), { caminho: null })],
    [
      'no checkpoint',
      (p) => Object.assign(p, { checkpoint: null, selos: p.selos.map((seal) => ({ ...seal, caminho: null })) }),
    ],
  ])('with %s is null, never true', (_, change) => {
    const changed = structuredClone(proof);
    change(changed);
    expect(check(changed).fits).toBeNull();
  });

  test('of what is no proof is false', () => {
    expect(checkProof('{}', TRUSTED).reason).toContain('no proof');
    expect(checkProof('not json', TRUSTED).reason).toContain('no proof');
  });

  test('of a test, and of one that sends an example, is evidence as any other', async () => {
    const example = JSON.stringify({ exemplo_de: 'margem.falhou', data: { erro: 'x' } });
    for (const data of ['{}', example]) {
      const [row] = await sql<[{ id: string }]>`
        with d as (select make_test_delivery(id, partner_id, 'webhook.teste', ${data}::text::json, 'test') as id, id as webhook_id, partner_id from webhooks),
        o as (insert into send_orders (kind, webhook_id, partner_id, delivery_ids, actor)
          select 'teste', webhook_id, partner_id, array[id], 'test' from d)
        select id from d`;
      await engine.poll();
      await untilSettled(sql);
      await sealAndSign(pool);
      const { body } = await readProof(row.id);
      expect(check(body)).toMatchObject({ fits: true, reason: null, unsealed: 0, facts: { apagado: null } });
      expect(JSON.parse(body.corpo)).toMatchObject({ evento: data === example ? 'margem.falhou' : 'webhook.teste' });
      expect(check({ ...body, evento: null })).toMatchObject({ fits: false });
    }
  });

  test('whose attempt was given another event, or whose rows were changed after they were sealed, does not pass', async () => {
    await sql`update attempts set event_id = ${other.entrega.evento_id} where delivery_id = ${proof.entrega.id}`;
    expect(check((await readProof(proof.entrega.id)).body)).toMatchObject({ fits: false });
    await sql`update deliveries set event_id = ${other.entrega.evento_id}, webhook_id = uuidv7() where id = ${proof.entrega.id}`;
    expect(check((await readProof(proof.entrega.id)).body)).toMatchObject({ fits: false });
    await sql`update attempts set url = 'https://other.example/' where delivery_id = ${other.entrega.id} and number = 1`;
    expect(check((await readProof(other.entrega.id)).body)).toMatchObject({
      fits: false,
      reason: expect.stringContaining('not one of those that were sealed') as string,
    });
  });
});

describe('a proof without the grant for CPFs', () => {
  const CPF = '52998224725';

  test('shows no CPF and no query, and nothing by which a CPF could be found by trying; its other rows still lead to their seals', async () => {
    const [{ id: partnerId }] = await sql<[{ id: string }]>`select id from partners`;
    await insertWebhook(sql, partnerId, 'https://partner.example/', ['autorizacao.confirmada']);
    await sql`
      select append_event(uuidv7(), 0, 'autorizacao.confirmada', ${partnerId}, json_build_object('autorizacao_id', uuidv7(), 'cpf_trabalhador', ${CPF}::text, 'status', 'confirmada', 'origem', 'web'), 'test')`;
    const [row] = await sql<[{ id: string }]>`
      insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim, answer, body_digest)
      select d.id, 1, d.event_id, d.webhook_id, d.partner_id, 'resposta_nao_2xx', 500, now(), 1, 'https://partner.example/?token=abc', 'test', '529–982–247–25',
             sha256(m.salt || m.body)
      from deliveries d join messages m using (event_id) where m.type = 'autorizacao.confirmada' returning delivery_id as id`;
    await untilSettled(sql);
    await sealAndSign(pool);
    const whole = (await readProof(row.id)).body;
    expect(check(whole).fits).toBe(true);
    const { body: hidden, text } = await readProof(row.id, '', ['auditoria:read']);
    expect(text).not.toContain(CPF);
    expect(text).not.toMatch(/982.{0,3}247|token=/);
    for (const secret of [
      whole.sal,
      first(whole.tentativas).sal,
      first(whole.tentativas).resposta,
      first(whole.tentativas).entrada,
    ]) {
      expect(text).not.toContain(secret);
    }
    expect(JSON.parse(hidden.corpo)).toMatchObject({ data: { cpf_trabalhador: '***********' } });
    const masked = { fits: null, reason: expect.stringContaining('masked') as string };
    expect(check(hidden)).toMatchObject(masked);
    expect(check({ ...hidden, evento: other.evento })).toMatchObject({ fits: false });
    const event = structuredClone(hidden.evento) as ProvedRow;
    edited(event, 'backoffice', 'leilao    ');
    expect(check({ ...hidden, evento: event })).toMatchObject({ fits: false });
  });
});
