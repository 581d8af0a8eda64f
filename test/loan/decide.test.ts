import type { ErrorDetail } from '../../src/contract/errors.ts';
import { describe, expect, test } from 'vitest';
import { EVENTS } from '../../src/contract/events.ts';
import type { Command } from '../../src/loan/command.ts';
import { decide } from '../../src/loan/decide.ts';
import { fold } from '../../src/loan/evolve.ts';
import { after, COMMANDS, contract, given, LOAN_ID, pieces, recorded, REGISTRATION_ID, typesOf } from './loan-spec.ts';
import { STAGES } from './loan-stages.ts';

const number = { emprestimo_id: LOAN_ID, numero_emprestimo: '2026-00000001' };
const missing = (...types: Parameters<typeof pieces>): Command => ({
  type: 'deliverMissingDocuments',
  documents: pieces(...types),
});

describe('issuance', () => {
  test('synchronous issuance is one internal event, version 1, with its definitive number', () => {
    expect(given().when(COMMANDS.issue)).toEqual({ ok: [{ type: 'emprestimo.contratado', data: contract() }] });
    expect(after(COMMANDS.issue)).toMatchObject({ version: 1, status: 'em_assinatura', number: '2026-00000001' });
  });

  test('asynchronous issuance ends with the definitive number in the place of the provisional one', () => {
    expect(given(...STAGES.issuing).when(COMMANDS.concludeIssuance)).toEqual({
      ok: [
        {
          type: 'emprestimo.emitido',
          data: { emprestimo_id: LOAN_ID, numero: '2026-00000002', valor_liberado: 1234.5 },
        },
      ],
    });
    expect(after(...STAGES.issuing)?.number).toBe('P-00000001');
    expect(after(...STAGES.issued)).toMatchObject({ status: 'em_assinatura', number: '2026-00000002' });
  });

  test('an issuance that failed cancels the loan', () => {
    expect(given(...STAGES.issuing).when(COMMANDS.failIssuance)).toEqual({
      ok: [{ type: 'emprestimo.emissao_falhou', data: { emprestimo_id: LOAN_ID, motivo: 'tentativas esgotadas' } }],
    });
    expect(after(...STAGES.cancelled)?.status).toBe('cancelada');
  });

  test('a refusal names the state in Portuguese', () => {
    expect(given(...STAGES.issuing).when(COMMANDS.requestRegistration)).toEqual({
      refused: { kind: 'loanState', what: 'Não é possível averbar', status: 'emitindo', why: null },
    });
    expect(given(...STAGES.registering).when(COMMANDS.requestRegistration)).toEqual({
      refused: {
        kind: 'loanState',
        what: 'Não é possível averbar',
        status: 'aguardando_averbacao',
        why: 'com uma averbação em processamento',
      },
    });
  });
});

const mismatch = (details: readonly ErrorDetail[], what: unknown = expect.any(String)) => ({
  refused: { kind: 'mismatch', what, details },
});

describe('signing and documents', () => {
  test('internal signing concludes when the document is finalised', () => {
    expect(given(COMMANDS.issue).when(COMMANDS.concludeSigning)).toEqual({
      ok: [{ type: 'assinatura.concluida', data: { emprestimo_id: LOAN_ID, tipo_assinatura: 'internal' } }],
    });
    expect(after(...STAGES['signed, internal'])).toMatchObject({ status: 'aguardando_averbacao', signed: true });
  });

  test('the grouped package is archived piece by piece and concludes the signing before registration', () => {
    expect(typesOf(given(...STAGES['signing, grouped']).when(COMMANDS.deliverPackage))).toEqual([
      ...Array.from({ length: 5 }, () => 'documento.recebido' as const),
      'assinatura.concluida',
    ]);
    expect(after(...STAGES['signed, grouped'])).toMatchObject({ status: 'aguardando_averbacao', obligation: null });
  });

  test('an incomplete grouped package is invalid and every missing piece is named', () => {
    expect(
      given(...STAGES['signing, grouped']).when({
        type: 'deliverPackage',
        documents: pieces(['selfie', 'ccb_assinada', 'selfie']),
      }),
    ).toEqual(
      mismatch([
        { campo: 'documentos[2].tipo', mensagem: 'a peça selfie está repetida' },
        { campo: 'documentos', mensagem: 'falta a peça documento_frente' },
        { campo: 'documentos', mensagem: 'falta a peça documento_verso' },
        { campo: 'documentos', mensagem: 'falta a peça evidencias' },
      ]),
    );
  });

  test('in the deferred flow the CCB goes ahead alone and leaves the signing pending', () => {
    expect(
      given(...STAGES['signing, deferred']).when({ type: 'deliverPackage', documents: pieces(['ccb_assinada']) }),
    ).toEqual({
      ok: [
        {
          type: 'documento.recebido',
          data: { emprestimo_id: LOAN_ID, tipo: 'ccb_assinada', sha256: 'ab'.repeat(32) },
        },
        { type: 'assinatura.pendente', data: { ...number, ccb_assinada_recebida: true } },
      ],
    });
    expect(
      given(...STAGES['signing, deferred']).when({ type: 'deliverPackage', documents: pieces(['selfie']) }),
    ).toEqual(
      mismatch([
        { campo: 'documentos[0].tipo', mensagem: 'a peça selfie não é esperada agora' },
        { campo: 'documentos', mensagem: 'falta a peça ccb_assinada' },
      ]),
    );
    expect(after(...STAGES['CCB ahead'])).toMatchObject({ status: 'aguardando_averbacao', signed: false });
  });

  test('a registration straight from em_assinatura leaves the signing pending without the CCB', () => {
    expect(given(...STAGES['signing, deferred']).when(COMMANDS.requestRegistration)).toEqual({
      ok: [
        { type: 'assinatura.pendente', data: { ...number, ccb_assinada_recebida: false } },
        { type: 'averbacao.solicitada', data: { emprestimo_id: LOAN_ID, averbacao_id: REGISTRATION_ID } },
      ],
    });
  });

  test('the batch must hold exactly the pieces still missing, and closes the obligation', () => {
    const rest = pieces(['selfie', 'documento_frente', 'documento_verso', 'evidencias']);
    expect(
      typesOf(given(...STAGES['registered, CCB ahead']).when({ type: 'deliverMissingDocuments', documents: rest })),
    ).toEqual([
      'documento.recebido',
      'documento.recebido',
      'documento.recebido',
      'documento.recebido',
      'docs_registry.recebido',
      'assinatura.concluida',
    ]);
    expect(given(...STAGES['registered, CCB ahead']).when(missing())).toEqual(
      mismatch([{ campo: 'documentos[0].tipo', mensagem: 'a peça ccb_assinada não é esperada agora' }]),
    );
    expect(
      given(...STAGES['registered, CCB ahead']).when({ type: 'deliverMissingDocuments', documents: rest.slice(1) }),
    ).toEqual(mismatch([{ campo: 'documentos', mensagem: 'falta a peça selfie' }]));
  });

  test('pieces come one by one in any order, and the last one behaves as the batch', () => {
    const [evidence, back, front, selfie] = pieces(['evidencias', 'documento_verso', 'documento_frente', 'selfie']).map(
      (document): Command => ({ type: 'deliverDocument', document }),
    ) as [Command, Command, Command, Command];
    const most = [...STAGES['registered, CCB ahead'], evidence, back, front];
    expect(typesOf(given(...STAGES['registered, CCB ahead']).when(evidence))).toEqual(['documento.recebido']);
    expect(given(...most).when(front)).toEqual({
      refused: expect.objectContaining({ kind: 'loanState', why: 'com a peça documento_frente já recebida' }),
    });
    expect(typesOf(given(...most).when(selfie))).toEqual([
      'documento.recebido',
      'docs_registry.recebido',
      'assinatura.concluida',
    ]);
    expect(after(...most, selfie)).toMatchObject({ status: 'averbada', obligation: { situation: 'recebido' } });
  });
});

describe('registration and disbursement', () => {
  test('a registration opens the documents obligation in the deferred flow alone', () => {
    const concluded = {
      type: 'averbacao.concluida',
      data: { emprestimo_id: LOAN_ID, averbacao_id: REGISTRATION_ID, protocolo_registry: 'REG-1' },
    } as const;
    expect(given(...STAGES.registering).when(COMMANDS.concludeRegistration)).toEqual({ ok: [concluded] });
    expect(given(...STAGES['registering, deferred']).when(COMMANDS.concludeRegistration)).toEqual({
      ok: [concluded, { type: 'docs_registry.pendente', data: { ...number, prazo: '2026-03-25' } }],
    });
  });

  test('an answer to another registration than the one under way is refused', () => {
    const other = '0198c0de-0000-7000-8000-00000000000f';
    expect(given(...STAGES.registering).when({ ...COMMANDS.concludeRegistration, registrationId: other })).toEqual({
      refused: expect.objectContaining({ kind: 'loanState', what: 'A averbação não está em processamento' }),
    });
    expect(given(...STAGES.registering).when({ ...COMMANDS.failRegistration, registrationId: other })).toEqual({
      refused: expect.objectContaining({ kind: 'loanState', what: 'A averbação não está em processamento' }),
    });
  });

  test('a failed registration leaves aguardando_averbacao and may be asked again', () => {
    const again = '0198c0de-0000-7000-8000-00000000000f';
    expect(after(...STAGES['registration failed'])?.status).toBe('aguardando_averbacao');
    const state = after(...STAGES['registration failed'], { type: 'requestRegistration', registrationId: again });
    expect(state?.registration).toMatchObject({ id: again, status: 'processando', error: null });
  });

  test('a second request in the deferred flow does not leave the signing pending twice', () => {
    expect(
      typesOf(given(...STAGES['registering, deferred'], COMMANDS.failRegistration).when(COMMANDS.requestRegistration)),
    ).toEqual(['averbacao.solicitada']);
  });

  test('a failed disbursement leaves averbada, and the next may settle', () => {
    const failed = [...STAGES.registered, COMMANDS.failDisbursement, COMMANDS.failDisbursement];
    expect(after(...failed)?.status).toBe('averbada');
    expect(given(...failed).when(COMMANDS.settleDisbursement)).toEqual({
      ok: [
        {
          type: 'desembolso.liquidado',
          data: { ...number, valor_liberado: 1234.5, data_liberacao: '2026-03-10' },
        },
      ],
    });
  });

  test.each(['2026-03-10', '2026-03-11', '2026-03-12'])('a transfer may have settled on %s', (on) => {
    const decision = given(...STAGES.registered).when({ ...COMMANDS.settleDisbursement, on });
    expect(decision).toMatchObject({ ok: [{ data: { data_liberacao: on } }] });
  });

  test.each(['2026-03-13', '2999-12-31', '2026-03-09', '1899-12-31', '0000-01-01'])(
    'a transfer dated %s is refused: it settles from the day of the loan to today',
    (on) => {
      expect(given(...STAGES.registered).when({ ...COMMANDS.settleDisbursement, on })).toEqual(
        mismatch(
          [
            {
              campo: 'data_liberacao',
              mensagem: 'deve ser de 2026-03-10, dia da contratação, a 2026-03-12, hoje em São Paulo',
            },
          ],
          'a data de liberação não cabe neste empréstimo',
        ),
      );
    },
  );

  test('a transfer of today settles although the clock has gone back behind the day of the loan', () => {
    const back = { ...COMMANDS.settleDisbursement, on: '2026-03-09', today: '2026-03-09' };
    expect(given(...STAGES.registered).when(back)).toHaveProperty('ok');
  });

  test('the day of the loan is that of São Paulo', () => {
    const state = after(...STAGES.registered);
    if (state === null) throw new Error('there is no loan');
    // 23:30 on 9 March in São Paulo.
    const late = { ...state, createdAt: '2026-03-10T02:30:00.000Z' };
    expect(decide({ ...COMMANDS.settleDisbursement, on: '2026-03-09' }, late)).toHaveProperty('ok');
    expect(decide({ ...COMMANDS.settleDisbursement, on: '2026-03-08' }, late)).toHaveProperty(
      'refused.kind',
      'mismatch',
    );
  });

  test('disbursement leaves the documents dimension open', () => {
    expect(after(...STAGES['disbursed, documents awaited'])).toMatchObject({
      status: 'desembolsada',
      obligation: { situation: 'aguardando' },
    });
  });
});

describe('end of bond', () => {
  test('it says who and why, and closes the loan', () => {
    expect(given(...STAGES.disbursed).when(COMMANDS.endBond)).toEqual({
      ok: [
        {
          type: 'trabalhador.desligado',
          data: {
            ...number,
            cpf_trabalhador: '52998224725',
            matricula: 'M-17',
            nome_trabalhador: 'Ana Souza',
            data_desligamento: '2026-03-01',
            motivo_desligamento: { codigo: '10', descricao: 'Pedido do trabalhador' },
            situacao_emprestimo: { codigo: 'encerrado_desligamento', descricao: 'Encerrado por desligamento' },
          },
        },
      ],
    });
  });

  test('what was under way still ends, and the status stays', () => {
    const registered = after(...STAGES['closed while registering, deferred'], COMMANDS.concludeRegistration);
    expect(registered).toMatchObject({
      status: 'encerrada_desligamento',
      registration: { status: 'concluida' },
      obligation: { situation: 'aguardando' },
    });
    expect(after(...STAGES['closed, transfer settled'])).toMatchObject({
      status: 'encerrada_desligamento',
      disbursedOn: '2026-03-10',
    });
  });

  test('a rehire says whether the new margin carries the installment, and changes nothing else', () => {
    const closed = [...STAGES.disbursed, COMMANDS.endBond];
    const rehired = {
      cpf_trabalhador: '52998224725',
      nome_trabalhador: 'Ana Souza',
      novo_empregador: { cnpj: '11444777000161', nome: 'Outra Empresa' },
      data_admissao: '2026-04-01',
      margem_disponivel: 120.33,
      emprestimo_id: LOAN_ID,
      saldo_pendente: 1443.96,
      averbavel: true,
    };
    expect(given(...closed).when(COMMANDS.recordNewBond)).toEqual({
      ok: [{ type: 'trabalhador.vinculo_novo', data: rehired }],
    });
    expect(given(...closed).when({ ...COMMANDS.recordNewBond, availableMarginCentavos: 12_032 })).toEqual({
      ok: [{ type: 'trabalhador.vinculo_novo', data: { ...rehired, margem_disponivel: 120.32, averbavel: false } }],
    });
    const before = after(...closed);
    const { version, updatedAt } = after(...closed, COMMANDS.recordNewBond) ?? {};
    expect(after(...closed, COMMANDS.recordNewBond)).toEqual({ ...before, version, updatedAt });
  });
});

describe('evolve', () => {
  const cancelled = { type: 'emprestimo.emissao_falhou', data: { emprestimo_id: LOAN_ID, motivo: 'x' } } as const;
  const contracted = { type: 'emprestimo.contratado', data: EVENTS['emprestimo.contratado'].data.parse(contract()) };
  const margin = {
    type: 'margem.falhou',
    data: { cpf_trabalhador: '52998224725', cnpj_empregador: '11222333000181', tipo_erro: 'upstream', erro: 'x' },
  } as const;
  const settled = {
    type: 'desembolso.liquidado',
    data: {
      emprestimo_id: LOAN_ID,
      numero_emprestimo: '2026-00000001',
      valor_liberado: 1234.5,
      data_liberacao: '2026-03-10',
    },
  } as const;

  test('a stream without a contract is no loan, and what was appended ahead of the contract counts from there on', () => {
    expect(fold(recorded([cancelled]))).toBeNull();
    expect(fold(recorded([settled, contracted as never]))).toMatchObject({
      version: 2,
      status: 'desembolsada',
      disbursedOn: '2026-03-10',
    });
  });

  test('a transfer that settled before any registration left the loan disbursed', () => {
    expect(fold(recorded([contracted as never, settled]))).toMatchObject({
      version: 2,
      status: 'desembolsada',
      transferOpen: false,
      registration: null,
    });
  });

  test('a registration that was never asked for counts when it ends, and moves no loan back', () => {
    const data = { emprestimo_id: LOAN_ID, averbacao_id: REGISTRATION_ID, protocolo_registry: 'REG-9' };
    const concluded = { type: 'averbacao.concluida', data } as const;
    const registration = { id: REGISTRATION_ID, status: 'concluida', protocol: 'REG-9' };
    expect(fold(recorded([contracted as never, concluded]))).toMatchObject({ status: 'averbada', registration });
    const late = fold(recorded([contracted as never, settled, concluded]));
    expect(late).toMatchObject({ status: 'desembolsada', registration, transferOpen: false });
  });

  test.each([
    ['a second contract', contracted as never],
    ['a fact of another stream', margin],
    ['a fact of another loan', { ...settled, data: { ...settled.data, emprestimo_id: REGISTRATION_ID } }],
  ])('%s changes nothing but the version', (_what, stray) => {
    const before = fold(recorded([contracted as never]));
    const after = fold(recorded([contracted as never, stray]));
    expect(after).toEqual({ ...before, version: 2, updatedAt: after?.updatedAt });
  });
});
