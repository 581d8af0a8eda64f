/** What a partner reads after a core in another language has appended through SQL alone. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { LoanResource } from '../../src/contract/resources/loan-resource.ts';
import { closeSettlement } from '../../src/core/settlement/settlement.ts';
import { dayOf } from '../../src/contract/calendar.ts';
import { namesOf, startPartnerWorld, TERMS, type TestPartner } from '../support/partner-world.ts';

const world = await startPartnerWorld();

async function appendAs(partner: TestPartner, stream: string, version: number, type: string, data: object) {
  await world.api.database.sql`
    select append_event(${stream}, ${version}, ${type}, ${partner.id}, ${JSON.stringify(data)}::text::json, 'core-banking')`;
}

const settled = (loan: LoanResource) => ({
  emprestimo_id: loan.id,
  numero_emprestimo: loan.numero,
  valor_liberado: loan.valor_liberado,
  data_liberacao: dayOf(new Date()),
});

async function registeredLoan(partner: TestPartner): Promise<LoanResource> {
  const id = await partner.newLoan();
  await partner.accepted(`/v1/sandbox/emprestimos/${id}/assinatura`);
  await partner.register(id);
  return partner.read(id);
}

describe('a disbursement settled by SQL', () => {
  test('is what the partner reads when its webhook has come, and what the month counts', async () => {
    const partner = await world.partner();
    const loan = await registeredLoan(partner);
    expect(loan).toMatchObject({ status: 'averbada', proxima_acao: 'desembolsar', versao: 4 });
    await appendAs(partner, loan.id, 4, 'desembolso.liquidado', settled(loan));
    expect(namesOf(await partner.received())).toContain('desembolso.liquidado');
    const { token } = partner;
    const now = await world.api.send<LoanResource>('GET', `/v1/emprestimos/${loan.id}`, { token });
    expect(now.body).toMatchObject({ status: 'desembolsada', proxima_acao: null, versao: 5 });
    const then = await world.api.send<LoanResource>('GET', `/v1/emprestimos/${loan.id}?versao=5`, { token });
    expect(then.body).toEqual(now.body);
    const before = await world.api.send<LoanResource>('GET', `/v1/emprestimos/${loan.id}?versao=4`, { token });
    expect(before.body).toEqual(loan);
  });

  test('is counted by the batch of its month', async () => {
    const partner = await world.partner();
    const loan = await registeredLoan(partner);
    // As the sandbox may: the day lies before the contract.
    await world.api.database.sql.begin(async (tx) => {
      await tx`select set_config('carteiro.day_is_judged', 'yes', true)`;
      const data = JSON.stringify({ ...settled(loan), data_liberacao: '2026-01-31' });
      await tx`select append_event(${loan.id}, 4, 'desembolso.liquidado', ${partner.id}, ${data}::text::json, 'core-banking')`;
    });
    const provenance = { partnerId: partner.id, actor: 'test', requestId: null };
    const closing = await closeSettlement(world.api.database.pool, provenance, '2026-02');
    expect(closing).toMatchObject({
      ok: { settlement: { total_parcelas: 1, numero_ccbs: 1, valor_total: TERMS.valor_parcela } },
    });
  });
});

test('a registration that SQL asked for and ended is what the partner reads', async () => {
  const partner = await world.partner();
  const id = await partner.newLoan();
  const { numero } = await partner.accepted(`/v1/sandbox/emprestimos/${id}/assinatura`);
  const path = `/v1/emprestimos/${id}/averbacao`;
  const { token } = partner;
  const ids = { emprestimo_id: id, averbacao_id: randomUUID() };
  await appendAs(partner, id, 2, 'averbacao.solicitada', ids);
  const asked = await world.api.send('GET', path, { token });
  expect(asked.body).toMatchObject({ id: ids.averbacao_id, status: 'processando', protocolo_registry: null });
  await appendAs(partner, id, 3, 'averbacao.concluida', { ...ids, protocolo_registry: 'REG-7' });
  const ended = await world.api.send('GET', path, { token });
  expect(ended.body).toMatchObject({ id: ids.averbacao_id, status: 'concluida', protocolo_registry: 'REG-7' });
  expect(await partner.read(id)).toMatchObject({ status: 'averbada', proxima_acao: 'desembolsar', numero });
});
