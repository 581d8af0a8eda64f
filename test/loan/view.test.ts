import { expect, test } from 'vitest';
import { loanResource } from '../../src/contract/resources/loan-resource.ts';
import { nextAction, view } from '../../src/loan/view.ts';
import { after, COMMANDS, contract, LOAN_ID, NOW, REGISTRATION_ID } from './loan-spec.ts';
import { type Stage, STAGES } from './loan-stages.ts';

const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000).toISOString();

function stateAt(stage: Stage) {
  const state = after(...STAGES[stage]);
  if (state === null) throw new Error(`stage ${stage} has no loan`);
  return state;
}

test.each([
  ['issuing', 'emitindo', 'aguardar_emissao'],
  ['signing, internal', 'em_assinatura', 'assinar'],
  ['signing, grouped', 'em_assinatura', 'enviar_documentos'],
  ['signing, deferred', 'em_assinatura', 'averbar'],
  ['registering', 'aguardando_averbacao', 'averbar'],
  ['registered', 'averbada', 'desembolsar'],
  ['disbursed', 'desembolsada', null],
  ['cancelled', 'cancelada', null],
  ['closed while transferring', 'encerrada_desligamento', null],
] as const)('at stage %s the status is %s and the next action %s', (stage, status, action) => {
  expect(view(stateAt(stage))).toMatchObject({ status, proxima_acao: action });
});

test('internal signing has no deferred flow, whatever the account says about documents', () => {
  const state = after({ ...COMMANDS.issue, contract: contract('internal', 'diferida') });
  expect(state && nextAction(state)).toBe('assinar');
});

test('every stage reads as the contract says, and its state survives JSON', () => {
  for (const stage of Object.keys(STAGES) as Stage[]) {
    if (stage === 'nothing') continue;
    const state = stateAt(stage);
    const resource = view(state);
    expect(loanResource.parse(resource)).toEqual(resource);
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  }
});

test('a loan with its registration and its documents obligation is shown in full', () => {
  expect(view(stateAt('registered, CCB ahead'))).toEqual({
    id: LOAN_ID,
    numero: '2026-00000001',
    status: 'averbada',
    proxima_acao: 'desembolsar',
    cpf_trabalhador: '52998224725',
    nome_trabalhador: 'Ana Souza',
    matricula: 'M-17',
    cnpj_empregador: '11222333000181',
    tipo_assinatura: 'externa',
    entrega_documentos: 'diferida',
    valor_liberado: 1234.5,
    numero_parcelas: 12,
    valor_parcela: 120.33,
    ccb_assinada_recebida: true,
    averbacao: {
      id: REGISTRATION_ID,
      emprestimo_id: LOAN_ID,
      status: 'concluida',
      protocolo_registry: 'REG-1',
      erro: null,
      criada_em: at(4),
      concluida_em: at(5),
    },
    data_liberacao: null,
    entrega_docs_registry: {
      situacao: 'aguardando',
      prazo: '2026-03-25',
      documentos_pendentes: ['selfie', 'documento_frente', 'documento_verso', 'evidencias'],
      recebido_em: null,
    },
    versao: 6,
    criado_em: at(1),
    atualizado_em: at(6),
  });
});
