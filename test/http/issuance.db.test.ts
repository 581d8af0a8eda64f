/** The asynchronous issuance over HTTP, and what a real receiver gets of it. */
import { describe, expect, test } from 'vitest';
import type { LoanResource } from '../../src/contract/resources/loan-resource.ts';
import { holdKey } from '../support/held-key.ts';
import { startPartnerWorld, type TestPartner } from '../support/partner-world.ts';

const ASYNCHRONOUS = { issuance: 'assincrona' };
const world = await startPartnerWorld();

const endIssuance = (partner: TestPartner, loanId: string, body: unknown) =>
  partner.post(`/v1/sandbox/emprestimos/${loanId}/emissao`, body);

describe('an issuance that answered 202', () => {
  test('and completes sends emprestimo.emitido once, with the definitive number', async () => {
    const partner = await world.partner(ASYNCHRONOUS);
    const issued = await partner.issue();
    expect([issued.status, issued.body.status, issued.body.proxima_acao]).toEqual([
      202,
      'emitindo',
      'aguardar_emissao',
    ]);
    expect(issued.body.numero).toMatch(/^P-\d{8}$/);
    expect(await partner.received()).toEqual([]);
    const { id } = issued.body;
    const ended = await endIssuance(partner, id, { resultado: 'emitida' });
    expect([ended.status, ended.body]).toEqual([200, await partner.read(id)]);
    expect(ended.body).toMatchObject({ status: 'em_assinatura', proxima_acao: 'assinar' });
    expect(ended.body.numero).toMatch(/^20\d\d-\d{8}$/);
    const again = await endIssuance(partner, id, { resultado: 'falhou' });
    expect([again.status, again.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
    expect(again.body.mensagem).toContain('em_assinatura');
    expect(await partner.received()).toMatchObject([
      {
        evento: 'emprestimo.emitido',
        data: { emprestimo_id: id, numero: ended.body.numero, valor_liberado: 1234.5 },
      },
    ]);
  });

  test('and is given up sends emprestimo.emissao_falhou once, cancels the loan, and a new key issues again', async () => {
    const partner = await world.partner(ASYNCHRONOUS);
    const first = await partner.issue('key-a');
    const { id } = first.body;
    const ended = await endIssuance(partner, id, { resultado: 'falhou', motivo: 'registry fora do ar' });
    expect([ended.status, ended.body.status, ended.body.proxima_acao]).toEqual([200, 'cancelada', null]);
    expect(ended.body.numero).toBe(first.body.numero);
    for (const resultado of ['emitida', 'falhou']) {
      const again = await endIssuance(partner, id, { resultado });
      expect([again.status, again.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
      expect(again.body.mensagem).toContain('cancelada');
    }
    const replay = await partner.issue('key-a');
    expect([replay.status, replay.body]).toEqual([202, first.body]);
    const reissued = await partner.issue('key-b');
    expect([reissued.status, reissued.body.status]).toEqual([202, 'emitindo']);
    expect(reissued.body.id).not.toBe(id);
    expect(await partner.received()).toMatchObject([
      { evento: 'emprestimo.emissao_falhou', data: { emprestimo_id: id, motivo: 'registry fora do ar' } },
    ]);
  });

  test('has a reason when none was given', async () => {
    const partner = await world.partner(ASYNCHRONOUS);
    await endIssuance(partner, await partner.newLoan(), { resultado: 'falhou' });
    const [event] = await partner.received();
    expect(event?.data['motivo']).toBe('Tentativas de emissão esgotadas');
  });
});

test('an issuance that answered 201 sends neither, and has no end to come', async () => {
  const partner = await world.partner();
  const issued = await partner.issue();
  expect([issued.status, issued.body.status]).toEqual([201, 'em_assinatura']);
  expect(issued.body.numero).toMatch(/^20\d\d-\d{8}$/);
  const ended = await endIssuance(partner, issued.body.id, { resultado: 'emitida' });
  expect([ended.status, ended.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
  expect(await partner.received()).toEqual([]);
});

describe('one Idempotency-Key', () => {
  test('that another request holds for over 5 s is 409, and free again when that one rolls back', async () => {
    const partner = await world.partner();
    const held = await holdKey(world.api.database.sql, partner.id, 'POST /v1/emprestimos', 'held');
    const startedAt = performance.now();
    const refused = await partner.issue('held');
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([409, '5']);
    expect((refused.body as LoanResource & { codigo?: string }).codigo).toBe('IDEMPOTENCIA_EM_ANDAMENTO');
    expect(performance.now() - startedAt).toBeGreaterThan(4_900);
    await held.release();
    expect((await partner.issue('held')).status).toBe(201);
  });
});

describe('the end of an issuance', () => {
  test.each([
    [{}, 'resultado'],
    [{ resultado: 'talvez' }, 'resultado'],
    [{ resultado: 'falhou', motivo: '' }, 'motivo'],
    [{ resultado: 'falhou', motivo: 'x'.repeat(501) }, 'motivo'],
    [{ resultado: 'falhou', erro: 'x' }, 'erro'],
  ])('refuses %j and names %s', async (body, campo) => {
    const partner = await world.partner(ASYNCHRONOUS);
    const answer = await endIssuance(partner, await partner.newLoan(), body);
    expect([answer.status, answer.body.detalhes?.map((detail) => detail.campo)]).toEqual([400, [campo]]);
  });
});
