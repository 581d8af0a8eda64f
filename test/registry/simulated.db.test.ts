/** The port's promises (src/registry/port.ts) as the adapter keeps them, asking the simulated registry over HTTP. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { LoanState } from '../../src/loan/state.ts';
import type { MarginQuestion, RegistrationRequest } from '../../src/registry/port.ts';
import { reportMargin } from '../../src/registry/simulated-margin.ts';
import { createSimulatedService } from '../../src/registry/simulated-service.ts';
import { answerNextRegistration } from '../../src/registry/simulated.ts';
import { createPartner, issueLoanAt, REQUEST } from '../core/loan-world.ts';
import { createTestDatabase } from '../support/database.ts';
import { startRegistry } from '../support/registry.ts';
import { cpfOf } from '../support/tax-ids.ts';

const database = await createTestDatabase();
const { pool, sql } = database;
const partner = await createPartner(sql);
const { registry } = await startRegistry(pool);
const never = () => new AbortController().signal;
let made = 0;

/** The next registration of the loan, which is refused unless `error` is null. */
async function registrationOf(loan: LoanState, error: string | null): Promise<RegistrationRequest> {
  await answerNextRegistration(sql, loan.id, error);
  return { registrationId: randomUUID(), requestId: null, loan };
}

const newLoan = () => issueLoanAt(pool, partner, new Date());
const newQuestion = (): MarginQuestion => ({
  queryId: randomUUID(),
  requestId: null,
  partnerId: partner.partnerId,
  workerCpf: cpfOf((made += 1)),
  employerCnpj: REQUEST.cnpj_empregador,
});

test('one reference has one answer, whatever the registry would answer later', async () => {
  const loan = await newLoan();
  const first = await registrationOf(loan, 'recusada');
  const answer = { outcome: 'failed', error: 'recusada' };
  expect(await registry.register(first, never())).toEqual(answer);
  const next = await registrationOf(loan, 'outra recusa');
  expect(await registry.register(first, never())).toEqual(answer);
  expect(await registry.register(next, never())).toEqual({ outcome: 'failed', error: 'outra recusa' });
  const last = { ...next, registrationId: randomUUID() };
  expect(await registry.register(last, never())).toEqual({
    outcome: 'concluded',
    protocol: expect.stringMatching(/\S/) as string,
  });
});

test('calls with one reference at once get one answer', async () => {
  // Several rounds: connections that are open already are what makes calls meet.
  for (let round = 0; round < 4; round += 1) {
    const request = await registrationOf(await newLoan(), 'recusada uma vez');
    const answers = await Promise.all(Array.from({ length: 6 }, () => registry.register(request, never())));
    expect(answers).toEqual(answers.map(() => ({ outcome: 'failed', error: 'recusada uma vez' })));
  }
});

test('what is asked under a signal that has aborted is not asked', async () => {
  const request = await registrationOf(await newLoan(), 'recusada');
  await expect(registry.register(request, AbortSignal.abort())).rejects.toThrow(/abort/i);
  expect(await registry.register(request, never())).toMatchObject({ outcome: 'failed' });
  await expect(registry.queryMargin(newQuestion(), AbortSignal.abort())).rejects.toThrow(/abort/i);
});

test('a margin is of one worker and employer, and the latest is told; of the others it is in integer centavos', async () => {
  const [one, other] = [newQuestion(), newQuestion()];
  const ask = (question: MarginQuestion) => registry.queryMargin(question, never());
  expect(await ask(one)).toEqual({ outcome: 'answered', earningsCentavos: 500_000, marginCentavos: 175_000 });
  await reportMargin(sql, one, { earningsCentavos: 1, marginCentavos: 0 });
  await reportMargin(sql, other, { earningsCentavos: 999_999_999_999, marginCentavos: 123_456_789_012 });
  expect(await ask(one)).toEqual({ outcome: 'answered', earningsCentavos: 1, marginCentavos: 0 });
  await reportMargin(sql, one, { earningsCentavos: 0, marginCentavos: 0 });
  expect(await ask(one)).toMatchObject({ earningsCentavos: 0, marginCentavos: 0 });
  expect(await ask(other)).toMatchObject({ earningsCentavos: 999_999_999_999, marginCentavos: 123_456_789_012 });
  await reportMargin(sql, one, { failure: 'negocial', error: 'vínculo não encontrado' });
  expect(await ask(one)).toEqual({ outcome: 'refused', error: 'vínculo não encontrado' });
  await reportMargin(sql, one, { failure: 'upstream', error: 'fora do ar' });
  await expect(ask(one)).rejects.toMatchObject({ name: 'RegistryFailure', reported: 'fora do ar' });
});

test('a list goes on behind the record that its cursor names; what no answer gave is refused, or begins anew', async () => {
  const service = createSimulatedService(pool, { token: null, workS: 0 });
  const { id: loanId } = await newLoan();
  await sql`
    insert into simulated_bonds (kind, partner_id, loan_id, data)
    select 'ended', ${partner.partnerId}, ${loanId}, '{"on":"2026-01-31","reason":{"codigo":"02","descricao":"Sem justa causa"}}'
    from generate_series(1, 1500)`;
  const window = { desde: '1970-01-01T00:00:00Z', ate: '2999-01-01T00:00:00Z', parceiro_id: partner.partnerId };
  const ask = async (more: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams({ ...window, ...more }).toString();
    const answer = await service.request(`/vinculos/desligamentos?${query}`);
    const { itens = [], proximo_cursor: cursor } = (await answer.json()) as {
      itens?: { referencia: string }[];
      proximo_cursor?: string | null;
    };
    return { status: answer.status, references: itens.map(({ referencia }) => referencia), cursor };
  };
  const all: string[] = [];
  for (let page = await ask({}); ; page = await ask({ cursor: page.cursor ?? '' })) {
    expect(page.status).toBe(200);
    all.push(...page.references);
    if (typeof page.cursor !== 'string') break;
  }
  expect([all.length, new Set(all).size]).toEqual([1_500, 1_500]);
  const impossible = Buffer.from(`9999-99-99 99:99:99+00|${partner.partnerId}`).toString('base64url');
  for (const cursor of ['x', impossible]) expect((await ask({ cursor })).status).toBe(400);
  expect((await ask({ cursor: randomUUID() })).references).toEqual((await ask({})).references);
});
