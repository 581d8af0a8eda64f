/** The parts of the systems around the lender that a partner plays in the sandbox. */
import { z } from 'zod';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { id as uuid, text, month } from '../../contract/values.ts';
import { readLoan } from '../../core/loans/read-loan.ts';
import { advanceTime } from '../../delivery/partner/advance.ts';
import { answerNextRegistration } from '../../registry/simulated.ts';
import { changePartner } from '../../admin/partners.ts';
import { answered } from '../answer.ts';
import type { Route } from '../operation.ts';
import { route } from '../route.ts';
import { loanFactRoutes, SANDBOX_DOOR } from './loan-facts.ts';
import { viewAccount } from './nucleus.ts';
import { sandboxRegistryRoutes } from './sandbox-registry.ts';
import { acceptance } from '../../contract/resources/margin-resource.ts';
import { authorizationConfirmed } from '../../contract/payloads.ts';
import { confirmAuthorization } from '../../core/margin/authorization.ts';
import { closedMonth, partnerAccount, sandboxAccount } from '../../contract/resources/nucleus-resource.ts';
import { closeSettlement } from '../../core/settlement/settlement.ts';

const MAX_ADVANCE_S = 366 * 24 * 60 * 60;
const MAX_REASON_LENGTH = 500;
const DEFAULT_REGISTRATION_ERROR = 'Averbação recusada pelo registry';

const outcome = z.enum(['concluida', 'falhou']);

/** Every route of the sandbox. Production never loads this module: it reaches into the simulated registry. */
export const sandboxRoutes: readonly Route[] = [
  ...loanFactRoutes(SANDBOX_DOOR),
  route('PUT /v1/sandbox/emprestimos/{id}/averbacao', 'sandbox', {
    summary: {
      pt: 'O que o registry responde à próxima averbação',
      en: 'What the registry answers to the next registration',
    },
    body: z.strictObject({ resultado: outcome, erro: text(MAX_REASON_LENGTH).optional() }),
    answers: answered(200, z.strictObject({ emprestimo_id: uuid, resultado: outcome, erro: z.string().nullable() }), {
      pt: 'O que o registry vai responder',
      en: 'What the registry will answer',
    }),
  })(async ({ partnerId, id, body: { resultado, erro: given } }, { pool }) => {
    if ((await readLoan(pool, partnerId, id)) === null) return NOT_FOUND;
    const erro = resultado === 'falhou' ? (given ?? DEFAULT_REGISTRATION_ERROR) : null;
    await pool.transaction((tx) => answerNextRegistration(tx, id, erro));
    return { status: 200, body: { emprestimo_id: id, resultado, erro } };
  }),
  route('PUT /v1/sandbox/conta', 'sandbox', {
    since: '0.4',
    summary: {
      pt: 'Muda a conta do próprio parceiro, para os empréstimos que vierem; o que falta fica',
      en: "Changes the partner's own account, for the loans to come; what is left out stays",
    },
    body: sandboxAccount,
    answers: answered(200, partnerAccount, { pt: 'A conta', en: 'The account' }),
  })(async ({ partnerId, actor, body }, { pool }) => {
    const { assinatura: signing, documentos: documents, emissao: issuance } = body;
    const change = { signing, documents, issuance };
    const changed = await pool.transaction((tx) => changePartner(tx, partnerId, change, { actor, reason: null }));
    return { status: 200, body: viewAccount(changed) };
  }),
  route('POST /v1/sandbox/tempo', 'sandbox', {
    summary: {
      pt: 'Adianta as entregas pendentes do parceiro',
      en: "Makes the partner's pending deliveries due earlier",
    },
    description: {
      pt: 'Uma tentativa vence agora no mínimo, nunca antes; webhooks falham desde tanto mais cedo. O que já aconteceu fica com a sua hora, porque o log a selou.',
      en: 'An attempt becomes due now at the earliest, never before; webhooks have been failing since as much earlier. What has happened keeps its time, because the log has sealed it.',
    },
    body: z.strictObject({ avancar_segundos: z.int().min(1).max(MAX_ADVANCE_S) }),
    answers: answered(200, z.strictObject({ entregas_adiantadas: z.int() }), {
      pt: 'Quantas entregas foram adiantadas',
      en: 'How many deliveries became due earlier',
    }),
  })(async ({ partnerId, body }, { pool }) => {
    const moved = await pool.transaction((tx) => advanceTime(tx, partnerId, body.avancar_segundos));
    return { status: 200, body: { entregas_adiantadas: moved } };
  }),
  route('POST /v1/sandbox/autorizacoes', 'sandbox', {
    summary: { pt: 'O trabalhador aceita a autorização', en: 'The worker accepts the authorization' },
    body: acceptance,
    answers: answered(201, authorizationConfirmed, {
      pt: 'A autorização confirmada',
      en: 'The confirmed authorization',
    }),
  })(async ({ partnerId, actor, requestId, body }, { pool }) => ({
    status: 201,
    body: await confirmAuthorization(pool, { partnerId, actor, requestId }, body),
  })),
  ...sandboxRegistryRoutes,
  route('POST /v1/sandbox/repasses', 'sandbox', {
    summary: {
      pt: 'O repasse do mês fecha; fechar de novo responde o que existe, com ja_fechado true',
      en: 'The settlement of the month closes; closing it again answers what there is, with ja_fechado true',
    },
    body: z.strictObject({ competencia: month }),
    answers: answered(200, closedMonth, { pt: 'O repasse', en: 'The settlement' }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ partnerId, actor, requestId, body: { competencia } }, { pool }) => {
    const closing = await closeSettlement(pool, { partnerId, actor, requestId }, competencia);
    if ('refused' in closing) return closing;
    const { settlement, alreadyClosed } = closing.ok;
    return { status: 200, body: { ...settlement, ja_fechado: alreadyClosed } };
  }),
];
