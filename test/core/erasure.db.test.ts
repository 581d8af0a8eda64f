/** A worker is forgotten: what is refused, what is overwritten, what stays and holds. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { addUp } from '../../src/audit/add-up-balance.ts';
import { readBalance } from '../../src/audit/balance.ts';
import { checkProof } from '../../src/audit/proof/check-proof.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { addDays, addMonths, dayOf } from '../../src/contract/calendar.ts';
import { KEPT_TEXTS } from '../../src/contract/erasure.ts';
import type { Proof, ProvedRow } from '../../src/contract/resources/audit-resource.ts';
import { EVENT_EXAMPLES } from '../../src/contract/event-examples.ts';
import type { LoanResource } from '../../src/contract/resources/loan-resource.ts';
import type { Scope } from '../../src/contract/statuses.ts';
import { rebuildLoans } from '../../src/core/projection/rebuild.ts';
import { eraseAll, eraseBatch, readErasure } from '../../src/core/workers/erase.ts';
import { findWorker } from '../../src/core/workers/find-worker.ts';
import { orderErasure } from '../../src/core/workers/order-erasure.ts';
import { workerKeyOf } from '../../src/core/workers/worker-key.ts';
import { startApi } from '../support/api.ts';
import { sealAndSign, SIGNER, TRUSTED } from '../support/checkpoint.ts';
import { CPF, findMarks, KEY_OF_LOAN, leadMarkedWorker, TERMS } from '../support/marked-worker.ts';
import { untilSettled } from '../support/settled.ts';
import { silentLog } from '../support/silent-log.ts';
import { cpfOf } from '../support/tax-ids.ts';
import { makeTestFolder } from '../support/test-folder.ts';

const KEY = workerKeyOf(randomBytes(32));
const ORDER = { cpf: CPF, actor: 'operador:ana', reason: 'pedido do titular', courtOrder: null, years: 0 };
afterAll(() => worker.close());

const readLoan = (query = '') =>
  api.send<LoanResource>('GET', `/v1/emprestimos/${worker.loans[0]}${query}`, { token: worker.token });

const api = await startApi({ allowInsecure: true, testWaitMs: 1 });
const { pool, sql } = api.database;
const worker = await leadMarkedWorker(api);
/** The worker's loan that the end of a bond closed, as it was read before. */
const before = (await readLoan()).body;
await untilSettled(api.database.sql);
await sealAndSign(api.database.pool);
// Told by the registry before the loan came, and not moved to the loan yet.
await sql`
  insert into bonds_unknown (kind, reference, partner_id, loan_id, data)
  select 'ended', ${CPF}, partner_id, id, '{}' from loans where id = ${worker.loans[0] ?? null}`;

async function balanceDifferences() {
  const today = dayOf(new Date());
  const [from, to] = [addDays(today, -1), addDays(today, 1)];
  return (await addUp(readBalance(api.database.pool, from, to), from, to, 10)).diferencas;
}

describe('an order', () => {
  const order = (more: Partial<typeof ORDER> | { courtOrder: string }) =>
    orderErasure(api.database.pool, KEY, { ...ORDER, ...more });

  test('is refused for a CPF under which nothing is kept', async () => {
    expect(await order({ cpf: cpfOf(7) })).toEqual({ refused: { kind: 'unknownWorker' } });
  });

  test('is refused while the legal period runs', async () => {
    const until = addMonths(dayOf(new Date(before.atualizado_em)), 60);
    expect(await order({ years: 5 })).toEqual({ refused: { kind: 'legalPeriod', until } });
  });

  test('is refused while a loan is open', async () => {
    const cpf = cpfOf(11);
    const { body } = await api.send<LoanResource>('POST', '/v1/emprestimos', {
      token: worker.token,
      headers: { 'Idempotency-Key': 'aberto' },
      body: { ...TERMS, cpf_trabalhador: cpf, nome_trabalhador: 'Outro', matricula: '1' },
    });
    await untilSettled(api.database.sql);
    expect(await order({ cpf })).toEqual({ refused: { kind: 'loanOpen', loanId: body.id, status: 'em_assinatura' } });
  });

  test('left nothing behind where it was refused', async () => {
    expect(await api.database.sql`select from erasure_orders`).toHaveLength(0);
  });
});

test('the worker is found by the keyed digest, and by no other key', async () => {
  const find = (key = KEY) => api.database.pool.run((sql) => findWorker(sql, key, CPF, 5));
  const found = await find();
  expect(found.loans.map(({ id, status }) => [id, status])).toEqual(
    [
      [worker.loans[0], 'encerrada_desligamento'],
      [worker.loans[1], 'cancelada'],
    ].toSorted(([a], [b]) => ((a ?? '') < (b ?? '') ? -1 : 1)),
  );
  expect(await find(workerKeyOf(randomBytes(32)))).toEqual({ events: [], loans: [] });
});

test('every table in which the worker stands is free of the worker afterwards', async () => {
  expect(Object.keys(await findMarks(sql))).toEqual([
    'attempts',
    'bond_records',
    'bonds_unknown',
    'documents',
    'events',
    'idempotency_keys',
    'loans',
    'margin_flights',
    'margin_queries',
    'simulated_answers',
    'simulated_bonds',
    'simulated_margins',
  ]);
  const ordered = await orderErasure(pool, KEY, ORDER);
  if ('refused' in ordered) throw new Error(ordered.refused.kind);
  // A crash after the first page: whoever comes next goes on.
  expect(await eraseBatch(pool)).toBe('worked');
  expect(await orderErasure(pool, KEY, ORDER)).toEqual({ ok: { ...ordered.ok, isNew: false } });
  await eraseAll(pool);
  expect(await findMarks(sql)).toEqual({});
  expect(await pool.run((tx) => readErasure(tx, ordered.ok.id))).toMatchObject({ doneAt: expect.any(Date) as Date });
  expect(await orderErasure(pool, KEY, ORDER)).toEqual({ refused: { kind: 'unknownWorker' } });
});

const execute = promisify(execFile);
const PYTHON = path.resolve(import.meta.dirname, '../../src/audit/verifiers/carteiro_audit.py');

/** How the verifier in Python ends. */
async function python(proof: string): Promise<number> {
  const folder = await makeTestFolder();
  const file = path.join(folder.path, 'proof.json');
  await writeFile(file, proof);
  const code = await execute('python3', [PYTHON, 'check', file, SIGNER.text]).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
  await folder.remove();
  return code;
}

describe('afterwards', () => {
  const auditor = () => api.token(undefined, ['auditoria:read', 'auditoria:cpf']);

  test('the log verifies, the balance closes, and the projection is the fold of the log', async () => {
    await untilSettled(sql);
    await sealAndSign(pool);
    expect((await verifySeals(pool)).findings).toEqual([]);
    expect(await balanceDifferences()).toEqual([]);
    expect(await rebuildLoans(pool, silentLog, { repair: false })).toMatchObject({ differences: [] });
  });

  test('the loan keeps what tells of nobody, at each version', async () => {
    const { body } = await readLoan();
    const averbacao = { ...before.averbacao, protocolo_registry: 'apagado' };
    expect(body).toEqual({
      ...before,
      cpf_trabalhador: 'apagado',
      nome_trabalhador: 'apagado',
      matricula: 'apagado',
      averbacao,
    });
    expect((await readLoan('?versao=1')).body).toMatchObject({
      versao: 1,
      cpf_trabalhador: 'apagado',
      status: 'em_assinatura',
    });
  });

  test('nothing more can be done with the loan, through any door', async () => {
    const { token, loans } = worker;
    const done = await api.send('POST', `/v1/emprestimos/${loans[0]}/averbacao`, { token });
    expect(done.status).toBe(409);
    expect(done.body.mensagem).toContain('os dados do trabalhador foram apagados');
    const data = { emprestimo_id: loans[0], numero_emprestimo: before.numero, motivo: TERMS.nome_trabalhador };
    const append = api.database.sql`
      select append_event(${loans[0] ?? ''}, ${before.versao}, 'desembolso.falhou', ${worker.partnerId}, ${JSON.stringify(data)}::text::json, 'core')`;
    await expect(append).rejects.toMatchObject({ code: 'CT403' });
  });

  test('a request whose answer was erased is not answered again', async () => {
    const { status, body } = await api.send('POST', '/v1/emprestimos', {
      token: await api.token(worker.partnerId, ['emprestimos:write']),
      headers: { 'Idempotency-Key': KEY_OF_LOAN },
      body: worker.contract,
    });
    expect([status, body.codigo]).toEqual([422, 'IDEMPOTENCIA_DIVERGENTE']);
  });

  test('the feed keeps ids and versions, and says apagado in the place of each envelope', async () => {
    const { body } = await api.send<{
      itens: { evento_id: string; emprestimo_id: string | null; versao_emprestimo: number | null }[];
    }>('GET', '/v1/eventos', { token: worker.token });
    const own = body.itens.filter(({ emprestimo_id }) => emprestimo_id === worker.loans[0]);
    expect(own.length).toBeGreaterThan(5);
    for (const item of own)
      expect(item).toMatchObject({ apagado: true, versao_emprestimo: expect.any(Number) as number });
    expect(own.some((item) => 'envelope' in item)).toBe(false);
    const [first] = own;
    expect((await api.send('GET', `/v1/eventos/${first?.evento_id}`, { token: worker.token })).body).toEqual(first);
  });

  test('deliveries and attempts say apagado, and a resend is refused', async () => {
    const { token, webhookId } = worker;
    const { body } = await api.send<{ itens: { id: string; emprestimo_id: string | null; status: string }[] }>(
      'GET',
      `/v1/webhooks/${webhookId}/entregas`,
      { token },
    );
    const delivery = body.itens.find(
      ({ emprestimo_id, status }) => emprestimo_id === worker.loans[0] && status === 'entregue',
    );
    const address = `/v1/entregas/${delivery?.id}`;
    const { body: shown } = await api.send('GET', address, { token });
    expect(shown).toMatchObject({
      corpo: 'apagado',
      tentativas: [{ resposta: 'apagado', assinaturas_conhecidas: false }],
    });
    const listed = await api.send('GET', `/v1/auditoria/tentativas?entrega_id=${delivery?.id}`, {
      token: await auditor(),
    });
    expect(listed.body).toMatchObject({ itens: [{ resposta: 'apagado' }] });
    const resent = await api.send('POST', `${address}/reenvio`, { token });
    expect([resent.status, resent.body.mensagem]).toEqual([
      409,
      'os dados deste evento foram apagados; não há o que enviar',
    ]);
    const many = { desde: '2020-01-01T00:00:00.000Z', ate: '2099-01-01T00:00:00.000Z', status: ['entregue', 'erro'] };
    const posts = worker.receiver.posts.length;
    expect((await api.send('POST', `/v1/webhooks/${webhookId}/reenvios`, { token, body: many })).status).toBe(200);
    await worker.deliver();
    expect(worker.receiver.posts.slice(posts).filter(({ body: sent }) => sent.includes('apagado'))).toEqual([]);
  });

  test('a proof says by which order and when, and every verifier takes it; without the order none does', async () => {
    const [delivery] = await api.database.sql<[{ id: string }]>`
      select d.id from deliveries d join events e on e.id = d.event_id
      where e.stream = ${worker.loans[0] ?? ''} and d.status = 'entregue' order by d.id limit 1`;
    const address = `/v1/auditoria/entregas/${delivery.id}/prova`;
    const { body: proof, text } = await api.send<Proof>('GET', address, { token: await auditor() });
    const { pedido } = proof.apagamento ?? {};
    expect(proof).toMatchObject({ corpo: 'apagado', sal: null });
    expect(text.length).toBeLessThan(20_000);
    const { id, ordered_at: at } = pedido?.campos ?? {};
    expect(checkProof(text, TRUSTED)).toMatchObject({
      fits: true,
      reason: null,
      unsealed: 0,
      facts: { apagado: { pedido: id, em: at } },
    });
    expect(await python(text)).toBe(0);
    const [other] = proof.tentativas;
    const forged: readonly Proof[] = [
      { ...proof, apagamento: null },
      { ...proof, corpo: '{}' },
      { ...proof, apagamento: proof.apagamento && { ...proof.apagamento, pagina: other as ProvedRow } },
      {
        ...proof,
        apagamento: proof.apagamento && { ...proof.apagamento, pedido: { ...proof.apagamento.pedido, indice: 99 } },
      },
    ];
    for (const one of forged) {
      expect(checkProof(JSON.stringify(one), TRUSTED).fits).toBe(false);
      expect(await python(JSON.stringify(one))).toBe(1);
    }
    const masked = await api.send<Proof>('GET', address, { token: await api.token(undefined, ['auditoria:read']) });
    expect(checkProof(masked.text, TRUSTED).fits).toBeNull();
    const { apagamento } = masked.body;
    const pagina = { ...apagamento?.pagina, entrada: null, campos: { ...apagamento?.pagina.campos, event_ids: [] } };
    const ofOthers = JSON.stringify({ ...masked.body, apagamento: { ...apagamento, pagina } });
    expect(checkProof(ofOthers, TRUSTED)).toMatchObject({
      fits: false,
      reason: 'the order to erase is one of other events',
    });
  });

  test('bonds say apagado', async () => {
    for (const list of ['desligamentos', 'novos']) {
      const { body } = await api.send('GET', `/v1/vinculos/${list}`, { token: worker.token });
      expect(body).toMatchObject({ itens: [{ cpf_trabalhador: 'apagado', nome_trabalhador: 'apagado' }] });
    }
  });
});

test('who read CPFs unmasked is logged and sealed: by whom, what was asked for, and when; who read them masked is not', async () => {
  const path = '/v1/auditoria/tentativas?desde=2026-01-01T00:00:00.000Z&formato=csv';
  const read = (path: string, ...scopes: Scope[]) =>
    api
      .token(undefined, scopes)
      .then((token) => api.send('GET', path, { token, headers: { 'X-Request-Id': 'x' } }).catch(() => null));
  const logged = () =>
    sql<
      { actor: string; operation: string; asked: string }[]
    >`select actor, operation, asked from cpf_reads order by position`;
  const before = (await logged()).length;
  await read('/v1/auditoria/tentativas', 'auditoria:read');
  expect(await logged()).toHaveLength(before);
  await read(path, 'auditoria:read', 'auditoria:cpf');
  await read(`/v1/auditoria/entregas/${worker.loans[0]}/prova?tamanho=3`, 'auditoria:read', 'auditoria:cpf');
  expect((await logged()).slice(before)).toEqual([
    { actor: expect.any(String) as string, operation: 'GET /v1/auditoria/tentativas', asked: path },
    {
      actor: expect.any(String) as string,
      operation: 'GET /v1/auditoria/entregas/{id}/prova',
      asked: `/v1/auditoria/entregas/${worker.loans[0]}/prova?tamanho=3`,
    },
  ]);
  await untilSettled(sql);
  await sealAndSign(pool);
  await sql`update cpf_reads set actor = 'nobody' where position = (select max(position) from cpf_reads)`;
  expect((await verifySeals(pool)).findings).toMatchObject([
    { tipo: 'linha_alterada', tabela: 'cpf_reads', colunas: [] },
  ]);
});

test('the database keeps the texts that the contract names, and no other; of these none that is a CPF', async () => {
  const texts = Object.fromEntries(
    ['nome_trabalhador', 'erro', 'protocolo_registry', ...KEPT_TEXTS].map((key) => [key, 'x']),
  );
  const content = {
    ...texts,
    lista: ['x', 1, null],
    valor: 1.5,
    numero: CPF,
    novo_empregador: { cnpj: '11222333000181', nome: 'x' },
  };
  const [{ left }] = await api.database.sql<[{ left: string }]>`
    select erased(${JSON.stringify(content)}::text::json)::text as left`;
  const kept = Object.fromEntries(Object.keys(texts).map((key) => [key, KEPT_TEXTS.includes(key) ? 'x' : 'apagado']));
  const rest = {
    lista: ['apagado', 1, null],
    valor: 1.5,
    novo_empregador: { cnpj: '11222333000181', nome: 'apagado' },
  };
  expect(left).toBe(JSON.stringify({ ...kept, numero: 'apagado', ...rest }));
});

test('every text of every payload is known to stay or to go', () => {
  const texts = (value: unknown, key: string): string[] =>
    typeof value === 'string' ? [key] : Object.entries(value ?? {}).flatMap(([name, inner]) => texts(inner, name));
  const gone = new Set(
    Object.values(EVENT_EXAMPLES)
      .flatMap((example) => texts(example, ''))
      .filter((key) => !KEPT_TEXTS.includes(key)),
  );
  expect([...gone].toSorted()).toEqual([
    'cpf_trabalhador',
    'descricao',
    'erro',
    'host',
    'matricula',
    'motivo',
    'nome',
    'nome_trabalhador',
    'o_que_fazer',
    'protocolo_registry',
  ]);
});
