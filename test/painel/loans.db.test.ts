/** Loans on the page: the way they took, and what each event had delivered. */
import { describe, expect, test } from 'vitest';
import { createPainel, besidePainel } from '../../src/painel/app.ts';
import type { LoanHistory } from '../../src/contract/resources/loan-resource.ts';
import { entries } from '../../src/painel/loans/diagram.ts';
import { startPartnerWorld } from '../support/partner-world.ts';
import { createVisitor, type Visitor } from '../support/painel.ts';
import { serve } from '../support/serve.ts';

const world = await startPartnerWorld();
const { deps, app } = world.api;
const painel = createPainel({ ...deps, api: app.fetch, publicUrl: null, sandboxToken: null });
const server = await serve(besidePainel(app.fetch, painel));
const partner = await world.partner();
const loanId = await partner.newLoan();
await partner.accepted(`/v1/sandbox/emprestimos/${loanId}/assinatura`);
await partner.register(loanId);
await partner.disburse(loanId);
await partner.received();

async function signedIn(token: string): Promise<Visitor> {
  const visitor = createVisitor(server.url);
  await visitor.signIn(token);
  return visitor;
}

test('the way is every state that was entered, with the version that led there', async () => {
  const { body } = await world.api.send<LoanHistory>('GET', `/v1/emprestimos/${loanId}/historico`, {
    token: partner.token,
  });
  const steps = body.itens;
  expect([...entries(steps, ({ status }) => status)]).toEqual([
    ['em_assinatura', [1]],
    ['aguardando_averbacao', [2]],
    ['averbada', [4]],
    ['desembolsada', [5]],
  ]);
  expect(steps.map((step) => step.situacao_documentos)).toEqual(steps.map(() => null));
});

test('the history comes in pages that together are the whole, each state as it was', async () => {
  const read = async (query: string) =>
    (await world.api.send<LoanHistory>('GET', `/v1/emprestimos/${loanId}/historico${query}`, { token: partner.token }))
      .body;
  const whole = await read('');
  expect([whole.itens.length > 4, whole.proxima_versao]).toEqual([true, null]);
  const pages: LoanHistory[] = [];
  for (let from: number | null = 1; from !== null;) {
    const page: LoanHistory = await read(`?desde_versao=${from}&limite=2`);
    pages.push(page);
    from = page.proxima_versao;
  }
  expect(pages.slice(0, -1).map(({ itens }) => itens.length)).toEqual(pages.slice(1).map(() => 2));
  expect(pages.flatMap(({ itens }) => itens)).toEqual(whole.itens);
  expect((await read('?desde_versao=999')).itens).toEqual([]);
  const wrong = await world.api.send('GET', `/v1/emprestimos/${loanId}/historico?desde_versao=1.5`, {
    token: partner.token,
  });
  expect([wrong.status, wrong.body.detalhes?.[0]?.campo]).toEqual([400, 'desde_versao']);
});

describe('a loan', () => {
  test('is found among those that moved last, and by its id', async () => {
    const visitor = await signedIn(partner.token);
    const { text } = await visitor.get('/painel/emprestimos');
    expect(text).toContain(`/painel/emprestimos/${loanId}`);
    expect(text).toContain('desembolso.liquidado');
    const found = await visitor.get(`/painel/emprestimos?id=${loanId}`);
    expect(found.headers.get('location')).toBe(`/painel/emprestimos/${loanId}`);
    expect((await visitor.get('/painel/emprestimos?id=nada')).status).toBe(404);
  });

  test('shows its picture, its events and the deliveries of each', async () => {
    const { text } = await (await signedIn(partner.token)).get(`/painel/emprestimos/${loanId}`);
    expect(text).toMatch(/state-now[\s\S]{0,300}desembolsada/);
    const [{ id }] = await world.api.database.sql<[{ id: string }]>`
      select d.id from deliveries d join events e on e.id = d.event_id
      where e.stream = ${loanId} and e.type = 'desembolso.liquidado'`;
    expect(text).toContain(`/painel/entregas/${id}`);
    expect(text).toContain('nenhuma entrega');
  });

  test('shows how it was at any version, and now for a version that is none', async () => {
    const visitor = await signedIn(partner.token);
    const second = (await visitor.get(`/painel/emprestimos/${loanId}?versao=2`)).text;
    expect(second).toMatch(/state-now[\s\S]{0,300}aguardando averbação/);
    expect(second).toContain('&quot;versao&quot;: 2,');
    for (const versao of ['99', '0', 'x', '-1', '1.5']) {
      const { status, text } = await visitor.get(`/painel/emprestimos/${loanId}?versao=${versao}`);
      expect([status, text.includes('&quot;versao&quot;: 5,')]).toEqual([200, true]);
    }
  });

  test('is unknown to another partner, whose list does not name it', async () => {
    const other = await world.partner();
    const visitor = await signedIn(other.token);
    expect((await visitor.get(`/painel/emprestimos/${loanId}`)).status).toBe(404);
    expect((await visitor.get(`/painel/emprestimos?id=${loanId}`)).status).toBe(404);
    expect((await visitor.get('/painel/emprestimos')).text).not.toContain(loanId);
  });
});
