/** A core that exists brings partners, webhooks, loans, queries, registrations and closed months in under its own ids. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ErrorBody } from '../../src/contract/errors.ts';
import { prove } from '../support/delivery-world.ts';
import { startPartnerWorld, TERMS } from '../support/partner-world.ts';

const world = await startPartnerWorld({ sandbox: null });
const { database } = world.api;
const core = await world.api.token(undefined, ['nucleo']);

type Answered = Record<string, unknown> & ErrorBody & { readonly id: string };
const send = (method: 'POST' | 'PUT' | 'GET', path: string, body?: unknown, key?: string) =>
  world.api.send<Answered>(method, path, {
    token: core,
    ...(body !== undefined && { body }),
    ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
  });
const reported = (path: string, body: unknown, key?: string) => send('POST', `/v1/nucleo/${path}`, body, key);
const END_OF_BOND = {
  data_desligamento: '2026-01-31',
  motivo_desligamento: { codigo: 'pedido', descricao: 'A pedido do trabalhador' },
};
const ACCOUNT = { nome: 'Um', assinatura: 'internal', documentos: 'agrupada', emissao: 'sincrona' };

async function newPartner(account: object = {}): Promise<string> {
  const id = randomUUID();
  expect((await reported('parceiros', { id, ...ACCOUNT, ...account })).status).toBe(201);
  return id;
}

describe('a partner', () => {
  test('has the id and the account that the core has, and its history begins with the core as its author', async () => {
    const id = randomUUID();
    const answer = await reported('parceiros', { id, ...ACCOUNT });
    expect([answer.status, answer.body]).toEqual([201, { id, ...ACCOUNT, ativo: true, criado_em: expect.any(String) }]);
    const [line] =
      await database.sql`select change, actor = 'operator' as operator from partner_history where partner_id = ${id}`;
    expect(line).toEqual({ change: 'criacao', operator: false });
    expect((await reported('parceiros', ACCOUNT)).body.id).not.toBe(id);
  });

  test('of an id that is taken is 409 and names it; the same key again is the first answer', async () => {
    const body = { id: randomUUID(), ...ACCOUNT };
    const first = await reported('parceiros', body, 'partner-1');
    expect((await reported('parceiros', body, 'partner-1')).body).toEqual(first.body);
    for (const key of [undefined, 'partner-2']) {
      const again = await reported('parceiros', body, key);
      expect([again.status, again.body.codigo, again.body.detalhes]).toEqual([
        409,
        'TRANSICAO_INVALIDA',
        [{ campo: 'id', mensagem: 'já está em uso' }],
      ]);
    }
  });

  test('changes by PUT, what is left out stays; an unknown one is 404, an empty change and a strange word are 400', async () => {
    const id = await newPartner();
    const changed = await send('PUT', `/v1/nucleo/parceiros/${id}`, { emissao: 'assincrona' });
    expect([changed.status, changed.body]).toMatchObject([200, { ...ACCOUNT, emissao: 'assincrona' }]);
    for (const unknown of [randomUUID(), 'x'])
      expect((await send('PUT', `/v1/nucleo/parceiros/${unknown}`, { nome: 'Dois' })).status).toBe(404);
    expect((await send('PUT', `/v1/nucleo/parceiros/${id}`, {})).status).toBe(400);
    const named = await reported('parceiros', { ...ACCOUNT, nome: 'José Alves 529.982.247-25' });
    expect([named.status, named.body.detalhes]).toMatchObject([400, [{ campo: 'nome' }]]);
    const strange = await send('PUT', `/v1/nucleo/parceiros/${id}`, { assinatura: 'interna' });
    expect(strange.body.detalhes).toMatchObject([{ campo: 'assinatura' }]);
  });

  test("of the operator's own is not the core's to change", async () => {
    const [{ id }] = await database.sql<[{ id: string }]>`select operator_partner() as id`;
    expect((await send('PUT', `/v1/nucleo/parceiros/${id}`, { nome: 'Meu' })).status).toBe(404);
    expect(
      (await reported(`parceiros/${id}/webhooks`, { url: 'https://a.example/', eventos: ['averbacao.concluida'] }))
        .status,
    ).toBe(404);
  });
});

describe("a partner's webhook", () => {
  const body = { url: 'https://parceiro.example.com/carteiro', eventos: ['averbacao.concluida'] };

  test('is answered with its secret once, is the partner’s own, and a replay has no secret', async () => {
    const id = await newPartner();
    const first = await reported(`parceiros/${id}/webhooks`, body, `hook-${id}`);
    expect([first.status, first.body]).toMatchObject([
      201,
      { ...body, ativo: true, secret: expect.stringMatching(/^whsec_/) },
    ]);
    const { secret: _, ...kept } = first.body;
    expect((await reported(`parceiros/${id}/webhooks`, body, `hook-${id}`)).body).toEqual(kept);
    const token = await world.api.token(id, ['webhooks:read']);
    expect((await world.api.send('GET', '/v1/webhooks', { token })).body).toMatchObject([{ id: first.body.id }]);
  });

  test('under a key of another partner’s webhook is 422: it is not that one', async () => {
    const [one, other] = [await newPartner(), await newPartner()];
    const key = `hook-of-${one}`;
    expect((await reported(`parceiros/${one}/webhooks`, body, key)).status).toBe(201);
    const refused = await reported(`parceiros/${other}/webhooks`, body, key);
    expect([refused.status, refused.body.codigo]).toEqual([422, 'IDEMPOTENCIA_DIVERGENTE']);
    expect((await reported(`parceiros/${other}/webhooks`, body, `hook-of-${other}`)).status).toBe(201);
  });

  test('of an unknown partner is 404, and a wrong one is 400 with its field', async () => {
    expect((await reported(`parceiros/${randomUUID()}/webhooks`, body)).status).toBe(404);
    const id = await newPartner();
    const wrong = await reported(
      `parceiros/${id}/webhooks`,
      { ...body, url: 'ftp://parceiro.example.com/' },
      'hook-wrong',
    );
    expect([wrong.status, wrong.body.detalhes]).toMatchObject([400, [{ campo: 'url' }]]);
  });
});

describe('what the core has an id or a number for', () => {
  test('a loan: both are what the partner gets and reads; either of another loan is 409', async () => {
    const partner = await world.partner();
    const own = { id: randomUUID(), numero: 'CCB 2026/000123' };
    const loan = (more: object) => reported('emprestimos', { parceiro_id: partner.id, ...TERMS, ...more });
    expect((await loan(own)).body).toMatchObject(own);
    expect(await partner.read(own.id)).toMatchObject(own);
    for (const [field, value] of Object.entries(own)) {
      const again = await loan({ [field]: value });
      expect([again.status, again.body.detalhes]).toEqual([409, [{ campo: field, mensagem: 'já está em uso' }]]);
    }
  });

  test('an asynchronous issuance ends under the number that the core gives', async () => {
    const parceiro_id = await newPartner({ emissao: 'assincrona' });
    const { body } = await reported('emprestimos', { parceiro_id, ...TERMS });
    const issued = await reported(`emprestimos/${body.id}/emissao`, { resultado: 'emitida', numero: 'N-77' });
    expect(issued.body).toMatchObject({ numero: 'N-77', status: 'em_assinatura' });
  });

  test('a number that another loan of the partner bears is 409 where the issuance ends; the loan still waits for one', async () => {
    const parceiro_id = await newPartner({ emissao: 'assincrona' });
    const [one, other] = [
      await reported('emprestimos', { parceiro_id, ...TERMS, numero: 'N-88' }),
      await reported('emprestimos', { parceiro_id, ...TERMS }),
    ];
    const end = (id: string, numero: string) => reported(`emprestimos/${id}/emissao`, { resultado: 'emitida', numero });
    const refused = await end(other.body.id, 'N-88');
    expect([refused.status, refused.body.codigo, refused.body.detalhes]).toEqual([
      409,
      'TRANSICAO_INVALIDA',
      [{ campo: 'numero', mensagem: 'já está em uso' }],
    ]);
    expect((await end(other.body.id, 'N-89')).body).toMatchObject({ numero: 'N-89', status: 'em_assinatura' });
    expect((await end(one.body.id, 'N-88')).body).toMatchObject({ numero: 'N-88', status: 'em_assinatura' });
  });

  test('a number of our own series is not given again: the next loan has the one behind it', async () => {
    const partner = await world.partner();
    const { numero } = await partner.read(await partner.newLoan());
    const next = (by: number) => numero.slice(0, 5) + String(Number(numero.slice(5)) + by).padStart(8, '0');
    for (const by of [1, 2])
      expect((await reported('emprestimos', { parceiro_id: partner.id, ...TERMS, numero: next(by) })).status).toBe(201);
    expect((await partner.issue('behind')).body.numero).toBe(next(3));
  });

  test('a registration: its id comes back in the event; another id is not the one under way', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    await reported(`emprestimos/${id}/assinatura`, undefined);
    const averbacao_id = randomUUID();
    expect((await reported(`emprestimos/${id}/averbacao`, { resultado: 'solicitada', averbacao_id })).status).toBe(200);
    const ended = { resultado: 'concluida', protocolo_registry: 'P-1' };
    expect((await reported(`emprestimos/${id}/averbacao`, { ...ended, averbacao_id: randomUUID() })).status).toBe(409);
    expect((await reported(`emprestimos/${id}/averbacao`, { ...ended, averbacao_id })).status).toBe(200);
    const registered = (await partner.received()).find(({ evento }) => evento === 'averbacao.concluida');
    expect(registered?.data).toMatchObject({ averbacao_id });
  });

  test('a registration that has ended is not asked for again under its id, in whatever case; under another it is', async () => {
    const partner = await world.partner();
    const id = await partner.newLoan();
    await reported(`emprestimos/${id}/assinatura`, undefined);
    const tell = (body: object) => reported(`emprestimos/${id}/averbacao`, body);
    const averbacao_id = randomUUID();
    expect((await tell({ resultado: 'solicitada', averbacao_id })).status).toBe(200);
    expect((await tell({ resultado: 'falhou', averbacao_id, erro: 'Sem margem' })).status).toBe(200);
    for (const same of [averbacao_id, averbacao_id.toUpperCase()]) {
      const again = await tell({ resultado: 'solicitada', averbacao_id: same });
      expect([again.status, again.body.codigo, again.body.detalhes]).toEqual([
        409,
        'TRANSICAO_INVALIDA',
        [{ campo: 'averbacao_id', mensagem: 'já está em uso' }],
      ]);
    }
    expect((await tell({ resultado: 'solicitada', averbacao_id: randomUUID() })).status).toBe(200);
    expect((await tell({ resultado: 'concluida', protocolo_registry: 'P-2' })).body).toMatchObject({
      status: 'averbada',
    });
  });

  test('an id in upper case in a body is the same id, and is answered and kept in lower case', async () => {
    const partner = await world.partner();
    const own = { id: randomUUID(), averbacao_id: randomUUID() };
    const upper = { id: own.id.toUpperCase(), averbacao_id: own.averbacao_id.toUpperCase() };
    const loan = await reported('emprestimos', { parceiro_id: partner.id, ...TERMS, id: upper.id });
    expect([loan.status, loan.body.id]).toEqual([201, own.id]);
    await reported(`emprestimos/${own.id}/assinatura`, undefined);
    const tell = (body: object) =>
      reported(`emprestimos/${own.id}/averbacao`, { averbacao_id: upper.averbacao_id, ...body });
    expect((await tell({ resultado: 'solicitada' })).body).toMatchObject({ averbacao: { id: own.averbacao_id } });
    const ended = await tell({ resultado: 'concluida', protocolo_registry: 'P-3' });
    expect([ended.status, ended.body]).toMatchObject([200, { averbacao: { id: own.averbacao_id } }]);
    const bond = await reported('vinculos/desligamentos', { ...END_OF_BOND, emprestimo_id: upper.id });
    expect([bond.status, bond.body]).toMatchObject([201, { emprestimo_id: own.id }]);
    expect(await partner.read(own.id)).toMatchObject({ status: 'encerrada_desligamento' });
  });

  test('a bond: a day of the year 0 is 400, one of the year 1 is taken', async () => {
    const partner = await world.partner();
    const emprestimo_id = await partner.newLoan();
    const ended = (data_desligamento: string) =>
      reported('vinculos/desligamentos', { ...END_OF_BOND, emprestimo_id, data_desligamento });
    const refused = await ended('0000-02-29');
    expect([refused.status, refused.body.detalhes]).toMatchObject([400, [{ campo: 'data_desligamento' }]]);
    expect((await ended('0001-01-01')).status).toBe(201);
  });

  test('a margin query: a loan may name it; the same id again is 409', async () => {
    const partner = await world.partner();
    const consulta_margem_id = randomUUID();
    const query = {
      parceiro_id: partner.id,
      consulta_margem_id,
      cpf: TERMS.cpf_trabalhador,
      numero_inscricao_empregador: TERMS.cnpj_empregador,
      resultado: 'concluida',
      valor_total_vencimentos: 5000,
      valor_margem_disponivel: 1000,
    };
    expect((await reported('margens', query)).body).toEqual({ consulta_margem_id });
    expect((await reported('emprestimos', { parceiro_id: partner.id, ...TERMS, consulta_margem_id })).status).toBe(201);
    const again = await reported('margens', query);
    expect([again.status, again.body.detalhes]).toMatchObject([409, [{ campo: 'consulta_margem_id' }]]);
  });

  test('a month: its totals are the event’s, all three or none; closing again answers what there is', async () => {
    const partner = await world.partner();
    const month = { parceiro_id: partner.id, competencia: '2026-01' };
    const totals = { total_parcelas: 41, numero_ccbs: 40, valor_total: 1234.56 };
    const some = await reported('repasses', { ...month, total_parcelas: 41 });
    expect([some.status, some.body.detalhes]).toMatchObject([
      400,
      [{ campo: 'numero_ccbs' }, { campo: 'valor_total' }],
    ]);
    expect((await reported('repasses', { ...month, ...totals })).body).toMatchObject({ ...totals, ja_fechado: false });
    const other = await reported('repasses', { ...month, ...totals, total_parcelas: 1 });
    expect(other.body).toMatchObject({ ...totals, ja_fechado: true });
    expect(await partner.received()).toMatchObject([{ evento: 'repasse.processado', data: totals }]);
  });
});

test('a partner that the core brought in receives what the core tells of it', async () => {
  const id = await newPartner();
  const eventos = ['assinatura.concluida'];
  const { body } = await reported(`parceiros/${id}/webhooks`, { url: 'https://parceiro.example.com/', eventos });
  await prove(database.pool, body.id);
  const loan = await reported('emprestimos', { parceiro_id: id, ...TERMS });
  await reported(`emprestimos/${loan.body.id}/assinatura`, undefined);
  expect(await database.sql`select webhook_id from deliveries where partner_id = ${id}`).toEqual([
    { webhook_id: body.id },
  ]);
});
