/** Ends of bonds and rehires, from the sandbox's registry to the partner's receiver and to the lists. */
import { beforeEach, describe, expect, test } from 'vitest';
import { endedBondPage, newBondPage } from '../../src/contract/resources/bonds.ts';
import type { Scope } from '../../src/contract/statuses.ts';
import { dayOf, monthsBefore, startOfDay } from '../../src/contract/calendar.ts';
import { issueLoanAt } from '../core/loan-world.ts';
import { type Page as PageOf, pagesOf } from '../support/pages.ts';
import { namesOf, startPartnerWorld, TERMS, type TestPartner } from '../support/partner-world.ts';

const SCOPES: readonly Scope[] = ['sandbox', 'vinculos:read'];
const ENDS = '/v1/sandbox/vinculos/desligamentos';
const REHIRES = '/v1/sandbox/vinculos/novos';
const END = { data_desligamento: '2026-06-30', motivo_desligamento: { codigo: '02', descricao: 'Sem justa causa' } };
const REHIRE = {
  novo_empregador: { cnpj: '11444777000161', nome: 'Nova Empresa SA' },
  data_admissao: '2026-07-15',
  margem_disponivel: 120.05,
};
let partner: TestPartner;
let token: string;

const world = await startPartnerWorld();
beforeEach(async () => {
  partner = await world.partner();
  token = await world.api.token(partner.id, SCOPES);
});

async function otherToken(): Promise<string> {
  return world.api.token(await world.api.partner(), SCOPES);
}

const post = <T = unknown>(path: string, body?: unknown) =>
  world.api.send<T>('POST', path, { token, ...(body !== undefined && { body }) });
const get = <T = { itens: unknown[]; proximo_cursor: string | null }>(path: string, as = token) =>
  world.api.send<T>('GET', path, { token: as });
const end = (loanId: string) => post(ENDS, { emprestimo_id: loanId, ...END });
const rehire = (loanId: string) => post(REHIRES, { emprestimo_id: loanId, ...REHIRE });
const sync = async () => (await post('/v1/sandbox/sincronizacao')).body;

describe('trabalhador.desligado', () => {
  test('reaches the receiver with every field of the catalog in order, and a second sync sends nothing', async () => {
    const loan = await partner.read(await partner.newLoan());
    const reported = await end(loan.id);
    expect([reported.status, reported.body]).toEqual([201, { id: expect.any(String), emprestimo_id: loan.id, ...END }]);
    expect(await sync()).toEqual({ desligamentos: 1, novos: 0 });
    const fields = [
      ['emprestimo_id', loan.id],
      ['numero_emprestimo', loan.numero],
      ['cpf_trabalhador', TERMS.cpf_trabalhador],
      ['matricula', TERMS.matricula],
      ['nome_trabalhador', TERMS.nome_trabalhador],
      ['data_desligamento', '2026-06-30'],
      ['motivo_desligamento', END.motivo_desligamento],
      ['situacao_emprestimo', { codigo: 'encerrado_desligamento', descricao: 'Encerrado por desligamento' }],
    ];
    const [event] = await partner.received();
    expect([event?.evento, Object.entries(event?.data ?? {})]).toEqual(['trabalhador.desligado', fields]);
    expect(await sync()).toEqual({ desligamentos: 0, novos: 0 });
    expect(namesOf(await partner.received())).toEqual(['trabalhador.desligado']);
    expect(await partner.read(loan.id)).toMatchObject({ status: 'encerrada_desligamento', proxima_acao: null });
    const list = await get('/v1/vinculos/desligamentos');
    expect(endedBondPage.parse(list.body)).toEqual(list.body);
    expect(list.body).toEqual({
      itens: [{ ...Object.fromEntries(fields), detectado_em: expect.any(String) }],
      proximo_cursor: null,
    });
  });
});

describe('trabalhador.vinculo_novo', () => {
  test('reaches the receiver with every field of the catalog in order, once, after the closing', async () => {
    const provenance = { partnerId: partner.id, actor: 'test', requestId: null };
    const [on, ...months] = [3, 2, 1].map((back) => monthsBefore(dayOf(new Date()), back));
    const { id } = await issueLoanAt(world.api.database.pool, provenance, startOfDay(on ?? ''), TERMS);
    await partner.accepted(`/v1/sandbox/emprestimos/${id}/assinatura`);
    await partner.register(id);
    await partner.disburse(id, { resultado: 'liquidado', data_liberacao: on });
    for (const day of months) await post('/v1/sandbox/repasses', { competencia: day.slice(0, 7) });
    expect((await rehire(id)).status).toBe(201);
    expect(await sync()).toEqual({ desligamentos: 0, novos: 0 });
    await end(id);
    expect(await sync()).toEqual({ desligamentos: 1, novos: 1 });
    expect(await sync()).toEqual({ desligamentos: 0, novos: 0 });
    const fields = [
      ['cpf_trabalhador', TERMS.cpf_trabalhador],
      ['nome_trabalhador', TERMS.nome_trabalhador],
      ['novo_empregador', REHIRE.novo_empregador],
      ['data_admissao', '2026-07-15'],
      ['margem_disponivel', 120.05],
      ['emprestimo_id', id],
      ['saldo_pendente', 1200.5],
      ['averbavel', true],
    ];
    const events = (await partner.received()).filter(({ evento }) => evento === 'trabalhador.vinculo_novo');
    expect(events.map(({ data }) => Object.entries(data))).toEqual([fields]);
    const list = await get('/v1/vinculos/novos');
    expect(newBondPage.parse(list.body)).toEqual(list.body);
    expect(list.body.itens).toEqual([{ ...Object.fromEntries(fields), detectado_em: expect.any(String) }]);
  });

  test('with a margin below zero says so, and cannot be registered', async () => {
    const id = await partner.newLoan();
    await end(id);
    expect((await post(REHIRES, { emprestimo_id: id, ...REHIRE, margem_disponivel: -0.01 })).status).toBe(201);
    expect(await sync()).toEqual({ desligamentos: 1, novos: 1 });
    expect((await get('/v1/vinculos/novos')).body.itens).toMatchObject([
      { margem_disponivel: -0.01, averbavel: false },
    ]);
  });
});

describe('the sandbox', () => {
  test("syncs the token's partner alone", async () => {
    const id = await partner.newLoan();
    await end(id);
    const other = await otherToken();
    const foreign = await world.api.send('POST', '/v1/sandbox/sincronizacao', { token: other });
    expect(foreign.body).toEqual({ desligamentos: 0, novos: 0 });
    expect((await get('/v1/vinculos/desligamentos', other)).body.itens).toEqual([]);
    expect(await sync()).toEqual({ desligamentos: 1, novos: 0 });
  });

  test("is 404 for another partner's loan, and 409 where the record would wait in vain", async () => {
    const id = await partner.newLoan();
    const other = await otherToken();
    for (const [path, body] of [
      [ENDS, END],
      [REHIRES, REHIRE],
    ] as const) {
      const sent = { token: other, body: { emprestimo_id: id, ...body } };
      expect((await world.api.send('POST', path, sent)).status).toBe(404);
    }
    await end(id);
    await sync();
    const again = await end(id);
    expect([again.status, again.body]).toEqual([409, expect.objectContaining({ codigo: 'TRANSICAO_INVALIDA' })]);
    expect((await rehire(id)).status).toBe(201);
  });

  test('is 409 for a loan that was never issued', async () => {
    partner = await world.partner({ issuance: 'assincrona' });
    token = await world.api.token(partner.id, SCOPES);
    const id = await partner.newLoan();
    await partner.accepted(`/v1/sandbox/emprestimos/${id}/emissao`, { resultado: 'falhou' });
    for (const answer of [await end(id), await rehire(id)]) {
      expect([answer.status, answer.body]).toEqual([409, expect.objectContaining({ codigo: 'TRANSICAO_INVALIDA' })]);
    }
  });

  test.each([
    [ENDS, { ...END, data_desligamento: '2026-02-30' }, 'data_desligamento'],
    [ENDS, { ...END, motivo_desligamento: { codigo: '02' } }, 'motivo_desligamento.descricao'],
    [ENDS, { ...END, extra: 1 }, 'extra'],
    [REHIRES, { ...REHIRE, novo_empregador: { cnpj: '11444777000160', nome: 'X' } }, 'novo_empregador.cnpj'],
    [REHIRES, { ...REHIRE, margem_disponivel: 1.005 }, 'margem_disponivel'],
    [REHIRES, { ...REHIRE, data_admissao: '15/07/2026' }, 'data_admissao'],
  ])('%s names the field that is wrong in %j', async (path, body, campo) => {
    const id = await partner.newLoan();
    const answer = await post<{ detalhes: { campo: string }[] }>(path, { emprestimo_id: id, ...body });
    expect([answer.status, answer.body.detalhes.map((detail) => detail.campo)]).toEqual([400, [campo]]);
  });
});

describe('GET /v1/vinculos/desligamentos', () => {
  const LIST = '/v1/vinculos/desligamentos';
  type Page = PageOf<{ readonly emprestimo_id: string; readonly detectado_em: string }>;
  const list = async (query = '') => (await get<Page>(`${LIST}${query}`)).body;

  async function endMany(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let made = 0; made < count; made += 1) ids.push(await partner.newLoan());
    for (const id of ids) await end(id);
    await sync();
    return ids;
  }

  test('walks all pages, in the order of detection', async () => {
    const ids = await endMany(5);
    const pages = await Array.fromAsync(pagesOf((path) => get<Page>(path), `${LIST}?limite=2`));
    expect(Math.max(...pages.map(({ length }) => length))).toBe(2);
    expect(pages.flat().map((item) => item.emprestimo_id)).toEqual(ids);
  });

  test('filters detectado_em by instants and by days of São Paulo, both inclusive', async () => {
    await endMany(3);
    const [first, second] = (await list()).itens as [Page['itens'][0], Page['itens'][0]];
    expect((await list(`?ate=${first.detectado_em}`)).itens).toEqual([first]);
    expect((await list(`?desde=${second.detectado_em}`)).itens).toHaveLength(2);
    expect((await list(`?desde=${second.detectado_em}&ate=${second.detectado_em}`)).itens).toEqual([second]);
    // 02:30 UTC is still the day before in São Paulo.
    await world.api.database.sql`
      update bond_records set detected_at = '2026-07-01T02:30:00Z' where loan_id = ${first.emprestimo_id}`;
    const of = async (query: string) => (await list(query)).itens.map((item) => item.emprestimo_id);
    expect(await of('?desde=2026-06-30&ate=2026-06-30')).toEqual([first.emprestimo_id]);
    expect(await of('?desde=2026-07-01&ate=2026-07-01')).toEqual([]);
    expect(await of('?desde=2026-06-30T23:30:00-03:00&ate=2026-07-01T02:30:00Z')).toEqual([first.emprestimo_id]);
    expect(await of('?desde=0000-02-29&ate=9999-12-31')).toHaveLength(3);
    expect(await of('?desde=0001-01-01T00:00:00Z&ate=9999-12-31T23:59:59.999Z')).toHaveLength(3);
    expect(await of('?desde=9999-12-31')).toEqual([]);
  });

  test.each([
    ['desde=ontem', 'desde'],
    ['desde=2026-02-30', 'desde'],
    ['ate=2026-07-01T00:00:00', 'ate'],
    ['ate=1751328000', 'ate'],
    ['desde=2026-07-01&desde=2026-07-02', 'desde'],
    ['limite=0', 'limite'],
    ['limite=201', 'limite'],
    ['limite=1e1', 'limite'],
    ['limite=', 'limite'],
    ['cursor=', 'cursor'],
    ['cursor=abc', 'cursor'],
    ['cursor=a&cursor=b', 'cursor'],
  ])('refuses ?%s and names the parameter', async (query, campo) => {
    const answer = await get<{ codigo: string; detalhes: { campo: string }[] }>(`${LIST}?${query}`);
    expect([answer.status, answer.body.codigo]).toEqual([400, 'ERRO_VALIDACAO']);
    expect(answer.body.detalhes.map((detail) => detail.campo)).toEqual([campo]);
  });

  test('refuses a cursor of another list, and of another partner', async () => {
    await endMany(2);
    const cursor = (await list('?limite=1')).proximo_cursor ?? '';
    expect((await get(`${LIST}?cursor=${cursor}`)).status).toBe(200);
    expect((await get(`/v1/vinculos/novos?cursor=${cursor}`)).status).toBe(400);
    const other = await otherToken();
    expect((await get(`${LIST}?cursor=${cursor}`, other)).status).toBe(400);
  });
});
