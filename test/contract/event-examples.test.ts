/** Each example is what the rule that makes its event makes, given what the example tells. */
import { expect, test } from 'vitest';
import { EVENT_EXAMPLES } from '../../src/contract/event-examples.ts';
import { EMITTED_NAMES, EVENTS, SUBSCRIBABLE_NAMES } from '../../src/contract/events.ts';
import { LOAN_EXAMPLE } from '../../src/contract/resources/loan-example.ts';
import { toCentavos } from '../../src/contract/values.ts';
import { marginShare } from '../../src/core/margin/margin.ts';
import { isOver } from '../../src/core/settlement/settlement.ts';
import { noticeOf } from '../../src/delivery/queue/maintenance/failing-notice.ts';
import type { Command } from '../../src/loan/command.ts';
import { decide } from '../../src/loan/decide.ts';
import { fold } from '../../src/loan/evolve.ts';
import type { LoanState } from '../../src/loan/state.ts';
import { pieces, recorded } from '../loan/loan-spec.ts';

const E = EVENT_EXAMPLES;
const settled = E['desembolso.liquidado'];
const bondEnded = E['trabalhador.desligado'];
const newBond = E['trabalhador.vinculo_novo'];
const registrationId = E['averbacao.concluida'].averbacao_id;

const contract = (tipo_assinatura: 'internal' | 'externa', numero = settled.numero_emprestimo) => ({
  ...LOAN_EXAMPLE,
  emprestimo_id: settled.emprestimo_id,
  numero,
  tipo_assinatura,
  entrega_documentos: 'diferida' as const,
  consulta_margem_id: null,
});
const issue: Command = { type: 'issue', issuance: 'sincrona', contract: contract('internal') };
const requested: Command = { type: 'issue', issuance: 'assincrona', contract: contract('internal', 'P-1') };
const external: Command = { type: 'issue', issuance: 'sincrona', contract: contract('externa') };
const register: Command = { type: 'requestRegistration', registrationId };
const registered: Command = {
  type: 'concludeRegistration',
  registrationId,
  protocol: E['averbacao.concluida'].protocolo_registry,
  documentsDeadline: E['docs_registry.pendente'].prazo,
};
const settle: Command = {
  type: 'settleDisbursement',
  on: settled.data_liberacao,
  today: settled.data_liberacao,
};
const life: readonly Command[] = [issue, { type: 'concludeSigning' }, register, registered, settle];
const endBond: Command = { type: 'endBond', on: bondEnded.data_desligamento, reason: bondEnded.motivo_desligamento };

/** Every fact that these commands make, the later ones of a type last. */
function factsOf(commands: readonly Command[]): Map<string, unknown> {
  const facts = new Map<string, unknown>();
  let state: LoanState | null = null;
  for (const command of commands) {
    const decision = decide(command, state);
    if (!('ok' in decision)) throw new Error(`${command.type} was refused`);
    for (const { type, data } of decision.ok) facts.set(type, data);
    state = fold(recorded(decision.ok, state?.version), state);
  }
  return facts;
}

const WAYS: Readonly<Record<string, readonly Command[]>> = {
  'emprestimo.emitido': [requested, { type: 'concludeIssuance', number: E['emprestimo.emitido'].numero }],
  'emprestimo.emissao_falhou': [requested, { type: 'failIssuance', reason: E['emprestimo.emissao_falhou'].motivo }],
  'assinatura.concluida': life,
  'assinatura.pendente': [external, { type: 'deliverPackage', documents: pieces(['ccb_assinada']) }],
  'docs_registry.pendente': [external, register, registered],
  'docs_registry.recebido': [external, register, registered, { type: 'deliverMissingDocuments', documents: pieces() }],
  'averbacao.concluida': life,
  'averbacao.falhou': [
    issue,
    { type: 'concludeSigning' },
    register,
    { type: 'failRegistration', registrationId, error: E['averbacao.falhou'].erro },
  ],
  'desembolso.liquidado': life,
  'desembolso.falhou': [...life.slice(0, -1), { type: 'failDisbursement', reason: E['desembolso.falhou'].motivo }],
  'trabalhador.desligado': [...life, endBond],
  'trabalhador.vinculo_novo': [
    ...life,
    endBond,
    {
      type: 'recordNewBond',
      employer: newBond.novo_empregador,
      on: newBond.data_admissao,
      availableMarginCentavos: toCentavos(newBond.margem_disponivel),
      outstandingCentavos: LOAN_EXAMPLE.numero_parcelas * toCentavos(LOAN_EXAMPLE.valor_parcela),
    },
  ],
};

test.each(Object.entries(WAYS))('the example of %s is what the loan decides', (name, commands) => {
  expect(factsOf(commands).get(name)).toEqual(E[name as keyof typeof E]);
});

test('the example of a margin has the share of its own amounts', () => {
  const { margem_disponivel, salario_bruto, margem_percentual } = E['margem.concluida'];
  expect(marginShare(toCentavos(margem_disponivel), toCentavos(salario_bruto))).toBe(margem_percentual);
});

test('the example of a settlement closes a month that is over, with the installments that it counts', () => {
  const { competencia, fechado_em, total_parcelas, valor_total } = E['repasse.processado'];
  expect(isOver(competencia, new Date(fechado_em))).toBe(true);
  expect(valor_total).toBe(total_parcelas * LOAN_EXAMPLE.valor_parcela);
});

test('the examples of notices are what the policy of the example says', () => {
  const { falhando_desde, primeira_falha_em, webhook_id, parceiro_id, host } = E['webhook.falhando'];
  const reported = {
    webhookId: webhook_id,
    partnerId: parceiro_id,
    url: `https://${host}/carteiro`,
    run: {
      failures: E['webhook.falhando'].falhas,
      firstFailedAt: new Date(primeira_falha_em),
      lastFailedAt: new Date(falhando_desde),
      lastOutcome: 'resposta_nao_2xx',
      lastStatusCode: 503,
    },
    failingSince: new Date(falhando_desde),
    at: new Date(E['webhook.suspenso'].suspenso_em),
    isJudged: true,
    policy: { failingAfter: 1, failingHours: 24, suspendAfterDays: 5 },
  } as const;
  expect(noticeOf('falhando', reported)).toEqual({ name: 'webhook.falhando', data: E['webhook.falhando'] });
  expect(noticeOf('suspensao', reported)).toEqual({ name: 'webhook.suspenso', data: E['webhook.suspenso'] });
});

test('every event has a rule that holds its example, and keys in the order of the catalog', () => {
  const others = ['autorizacao.confirmada', 'margem.concluida', 'margem.falhou', 'repasse.processado'];
  expect([...Object.keys(WAYS), ...others].toSorted()).toEqual(EMITTED_NAMES.toSorted());
  for (const name of SUBSCRIBABLE_NAMES) {
    expect(JSON.stringify(EVENTS[name].data.parse(E[name]))).toBe(JSON.stringify(E[name]));
  }
});

test('no thing of the service has the ids and the number of an example', () => {
  const ids = JSON.stringify(E).match(/"[a-z_]*id":"[^"]*"/g) ?? [];
  expect(ids.length).toBeGreaterThan(10);
  expect(ids.filter((id) => !id.includes(':"00000000-0000-7000-8000-'))).toEqual([]);
  const numbers = JSON.stringify(E).match(/"numero(_emprestimo)?":"[^"]*"/g) ?? [];
  expect(new Set(numbers.map((number) => number.split(':')[1]))).toEqual(new Set(['"0000-00000000"']));
});
