/** Registration and disbursement over HTTP, as a real receiver gets their events. */
import { describe, expect, test } from 'vitest';
import { addDays, dayOf, monthsBefore } from '../../src/contract/calendar.ts';
import { namesOf, startPartnerWorld, type TestPartner } from '../support/partner-world.ts';

const world = await startPartnerWorld();

async function signedLoan(partner: TestPartner): Promise<string> {
  const id = await partner.newLoan();
  await partner.accepted(`/v1/sandbox/emprestimos/${id}/assinatura`);
  return id;
}

async function reportToRegistry(partner: TestPartner, loanId: string, body: unknown): Promise<void> {
  const path = `/v1/sandbox/emprestimos/${loanId}/averbacao`;
  expect((await world.api.send('PUT', path, { token: partner.token, body })).status).toBe(200);
}

describe('a registration', () => {
  test('that the registry was told to refuse sends averbacao.falhou; the next one sends averbacao.concluida', async () => {
    const partner = await world.partner();
    const id = await signedLoan(partner);
    await reportToRegistry(partner, id, { resultado: 'falhou', erro: 'margem insuficiente' });
    await partner.register(id);
    const failed = await partner.read(id);
    expect(failed).toMatchObject({
      status: 'aguardando_averbacao',
      proxima_acao: 'averbar',
      averbacao: { status: 'falhou', erro: 'margem insuficiente', protocolo_registry: null },
    });
    await partner.register(id);
    const registered = await partner.read(id);
    expect(registered).toMatchObject({
      status: 'averbada',
      proxima_acao: 'desembolsar',
      averbacao: { status: 'concluida' },
    });
    expect(registered.averbacao?.id).not.toBe(failed.averbacao?.id);
    const events = (await partner.received()).filter(({ evento }) => evento.startsWith('averbacao.'));
    expect(events).toMatchObject([
      {
        evento: 'averbacao.concluida',
        data: {
          emprestimo_id: id,
          averbacao_id: registered.averbacao?.id,
          protocolo_registry: registered.averbacao?.protocolo_registry,
        },
      },
      {
        evento: 'averbacao.falhou',
        data: { emprestimo_id: id, averbacao_id: failed.averbacao?.id, erro: 'margem insuficiente' },
      },
    ]);
  });

  test('is concluded when the refusal was taken back before it was asked', async () => {
    const partner = await world.partner();
    const id = await signedLoan(partner);
    await reportToRegistry(partner, id, { resultado: 'falhou' });
    await reportToRegistry(partner, id, { resultado: 'concluida' });
    await partner.register(id);
    expect(namesOf(await partner.received())).toEqual(['assinatura.concluida', 'averbacao.concluida']);
  });
});

describe('a disbursement', () => {
  async function registeredLoan(partner: TestPartner): Promise<string> {
    const id = await signedLoan(partner);
    await partner.register(id);
    return id;
  }

  test('that fails sends desembolso.falhou and leaves averbada; the next one sends desembolso.liquidado', async () => {
    const partner = await world.partner();
    const id = await registeredLoan(partner);
    const failed = await partner.disburse(id, { resultado: 'falhou', motivo: 'conta inválida' });
    expect([failed.status, failed.body.status, failed.body.proxima_acao]).toEqual([200, 'averbada', 'desembolsar']);
    const today = dayOf(new Date());
    const settled = await partner.disburse(id, { resultado: 'liquidado', data_liberacao: today });
    expect(settled.body).toMatchObject({
      status: 'desembolsada',
      proxima_acao: null,
      data_liberacao: today,
    });
    const again = await partner.disburse(id);
    expect([again.status, again.body.codigo]).toEqual([409, 'TRANSICAO_INVALIDA']);
    expect(again.body.mensagem).toContain('desembolsada');
    const named = { emprestimo_id: id, numero_emprestimo: settled.body.numero };
    expect((await partner.received()).filter(({ evento }) => evento.startsWith('desembolso.'))).toMatchObject([
      { evento: 'desembolso.liquidado', data: { ...named, valor_liberado: 1234.5, data_liberacao: today } },
      { evento: 'desembolso.falhou', data: { ...named, motivo: 'conta inválida' } },
    ]);
  });

  test.each(['sandbox', 'nucleo'] as const)(
    'of %s dated too early or in the future is 400, names the field and the bounds, and changes nothing',
    async (door) => {
      const partner = await world.partner();
      const id = await registeredLoan(partner);
      const before = await partner.read(id);
      const created = dayOf(new Date(before.criado_em));
      const first = door === 'sandbox' ? monthsBefore(created, 24) : created;
      const token = door === 'sandbox' ? partner.token : await world.api.token(undefined, ['nucleo']);
      for (const wrong of [addDays(first, -1), '1899-12-31', '0001-01-01', addDays(created, 3), '2999-01-01']) {
        const body = { resultado: 'liquidado', data_liberacao: wrong };
        const answer = await world.api.send('POST', `/v1/${door}/emprestimos/${id}/desembolso`, { token, body });
        expect([wrong, answer.status, answer.body.codigo, answer.body.detalhes]).toEqual([
          wrong,
          400,
          'ERRO_VALIDACAO',
          [{ campo: 'data_liberacao', mensagem: expect.stringContaining(first) }],
        ]);
      }
      expect(await partner.read(id)).toEqual(before);
      expect((await partner.disburse(id)).status).toBe(200);
    },
  );

  test('in the sandbox may lie 24 months back: a new partner sees months close and the balance fall', async () => {
    const partner = await world.partner();
    const id = await registeredLoan(partner);
    const today = dayOf(new Date());
    const settled = await partner.disburse(id, { resultado: 'liquidado', data_liberacao: monthsBefore(today, 24) });
    expect(settled.body).toMatchObject({ status: 'desembolsada', data_liberacao: monthsBefore(today, 24) });
    const month = monthsBefore(today, 12).slice(0, 7);
    const closed = await partner.post('/v1/sandbox/repasses', { competencia: month });
    expect(closed.body).toMatchObject({ competencia: month, total_parcelas: 1, numero_ccbs: 1 });
    const end = { data_desligamento: today, motivo_desligamento: { codigo: '02', descricao: 'Sem justa causa' } };
    await partner.post('/v1/sandbox/vinculos/desligamentos', { emprestimo_id: id, ...end });
    const employer = { cnpj: '11444777000161', nome: 'Nova Empresa SA' };
    const rehire = { novo_empregador: employer, data_admissao: today, margem_disponivel: 500 };
    await partner.post('/v1/sandbox/vinculos/novos', { emprestimo_id: id, ...rehire });
    await partner.accepted('/v1/sandbox/sincronizacao');
    const newBond = (await partner.received()).find(({ evento }) => evento === 'trabalhador.vinculo_novo');
    expect(newBond?.data).toMatchObject({ emprestimo_id: id, saldo_pendente: 11 * 120.05 });
  });

  test('is dated today in São Paulo when no date is given', async () => {
    const partner = await world.partner();
    const id = await registeredLoan(partner);
    const before = dayOf(new Date());
    const { body } = await partner.disburse(id);
    expect([before, dayOf(new Date())]).toContain(body.data_liberacao);
  });
});
