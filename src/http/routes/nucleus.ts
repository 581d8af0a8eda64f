/**
 * The loan core's API over HTTP: it reports facts, reads loans, events and catalog, and imports partners and their webhooks with
 * their ids. Each write honours `Idempotency-Key`.
 */
import * as resources from '../../contract/resources/nucleus-resource.ts';
import * as contract from '../../contract/resources/webhook.ts';
import { NOT_FOUND, type Result, taken } from '../../contract/refusals.ts';
import { id as idSchema, toCentavos } from '../../contract/values.ts';
import { onceForLender, reportOfPartner } from '../../core/loans/nucleus.ts';
import { codeOf } from '../../db/unavailable.ts';
import { changePartner, createPartner, lockPartner, type PartnerRow } from '../../admin/partners.ts';
import { answered } from '../answer.ts';
import { KEY_ERRORS, route, type Routes } from '../route.ts';
import { targetUrl } from '../target-url.ts';
import { CORE_DOOR, loanFactRoutes } from './loan-facts.ts';
import { newWebhook } from './webhooks.ts';
import { z } from 'zod';
import { authorizationConfirmed } from '../../contract/payloads.ts';
import { acceptance } from '../../contract/resources/margin-resource.ts';
import { confirmAuthorization } from '../../core/margin/authorization.ts';
import { reportMargin, type ReportedMargin } from '../../core/margin/margin.ts';
import { closeSettlement } from '../../core/settlement/settlement.ts';
import { coreDocumentRoutes } from './documents.ts';
import { nucleusLoanRoutes } from './nucleus-loans.ts';
import { loanResource } from '../../contract/resources/loan-resource.ts';
import { readLoan } from '../../core/loans/read-loan.ts';
import { readEventDeliveries } from '../../delivery/partner/read-deliveries.ts';
import { view } from '../../loan/view.ts';
import { readCatalog, readCoreEvent } from '../../log/core-event.ts';
import { MAX_VERSION, versionQuery } from './loans.ts';

const PARTNERS = `${CORE_DOOR.prefix}/parceiros` as const;
const TOLD = { idempotencyKey: 'optional', errors: KEY_ERRORS } as const;
const ACCOUNT = answered(200, resources.partnerAccount, { pt: 'A conta', en: 'The account' });

export const nucleusRoutes: Routes = [
  ...loanFactRoutes(CORE_DOOR),
  ...nucleusLoanRoutes,
  route(`POST ${PARTNERS}`, 'nucleo', {
    since: '0.4',
    summary: {
      pt: 'Cria um parceiro, com o id que o núcleo tem',
      en: 'Creates a partner, with the id that the core has',
    },
    body: resources.newPartner,
    idempotencyKey: 'optional',
    answers: answered(201, resources.partnerAccount, { pt: 'A conta', en: 'The account' }),
    errors: [...KEY_ERRORS, 'TRANSICAO_INVALIDA'],
  })((call, { pool }) =>
    onceForLender(pool, call, async (within) => {
      const { id = null, nome: name, assinatura: signing, documentos: documents, emissao: issuance } = call.body;
      try {
        const account = { name, signing, documents, issuance };
        const made = await within.transaction((tx) => createPartner(tx, account, call.actor, id));
        return { ok: { status: 201, body: viewAccount(made) } as const };
      } catch (error) {
        if (codeOf(error) !== '23505' || id === null) throw error;
        return taken('id', id);
      }
    }),
  ),
  route(`PUT ${PARTNERS}/{id}`, 'nucleo', {
    since: '0.4',
    summary: {
      pt: 'Muda a conta de um parceiro; o que falta fica',
      en: "Changes a partner's account; what is left out stays",
    },
    body: resources.partnerChange,
    answers: ACCOUNT,
  })(async ({ id, body, actor }, { pool }) => {
    const { nome: name, assinatura: signing, documentos: documents, emissao: issuance } = body;
    const changed = await pool.transaction<Result<PartnerRow, 'notFound'>>(async (tx) => {
      if ((await lockPartner(tx, id)) === null) return NOT_FOUND;
      return { ok: await changePartner(tx, id, { name, signing, documents, issuance }, { actor, reason: null }) };
    });
    return 'refused' in changed ? changed : { status: 200, body: viewAccount(changed.ok) };
  }),
  ({ allowInsecure }) =>
    route(`POST ${PARTNERS}/{id}/webhooks`, 'nucleo', {
      since: '0.4',
      summary: {
        pt: 'Dá um webhook a um parceiro; o secret só aparece nesta resposta',
        en: 'Gives a partner a webhook; the secret is shown in this answer alone',
      },
      body: contract.createWebhook(targetUrl(allowInsecure)),
      idempotencyKey: 'optional',
      answers: answered(201, contract.createdWebhook, { pt: 'Webhook registrado', en: 'The webhook was registered' }),
      errors: [...KEY_ERRORS, 'LIMITE_DE_WEBHOOKS'],
    })(async (call, deps) => {
      const { id: partnerId, actor, requestId, body } = call;
      const begun = await newWebhook(deps, { partnerId, actor, requestId, url: body.url, events: body.eventos });
      if ('refused' in begun) return begun;
      const { make, shownOnce } = begun;
      const made = await onceForLender(deps.pool, { ...call, body: { partnerId, body } }, (within) =>
        within.transaction(async (tx) => ((await lockPartner(tx, partnerId)) === null ? NOT_FOUND : make(tx))),
      );
      return 'refused' in made ? made : { status: 201, body: { ...made.body, ...shownOnce } };
    }),
  ...coreDocumentRoutes,
  route('POST /v1/nucleo/autorizacoes', 'nucleo', {
    since: '0.2',
    ...TOLD,
    summary: { pt: 'O trabalhador aceita a autorização', en: 'The worker accepts the authorization' },
    body: z.strictObject({
      parceiro_id: idSchema.meta({
        text: { pt: 'O parceiro que recebe o evento', en: 'The partner that receives the event' },
      }),
      ...acceptance.shape,
    }),
    answers: answered(201, authorizationConfirmed, {
      pt: 'A autorização confirmada',
      en: 'The confirmed authorization',
    }),
  })(async (call, { pool }) => {
    const { parceiro_id: _, ...accepted } = call.body;
    return reportOfPartner(pool, call, async (within, provenance) => {
      const body = await confirmAuthorization(within, provenance, accepted);
      return { ok: { status: 201, body } as const };
    });
  }),
  route('POST /v1/nucleo/margens', 'nucleo', {
    since: '0.3',
    ...TOLD,
    summary: {
      pt: 'O registry respondeu a uma consulta de margem do núcleo, ou a consulta falhou',
      en: 'The registry answered a margin query of the core, or the query failed',
    },
    body: resources.reportedMargin,
    answers: answered(201, z.strictObject({ consulta_margem_id: idSchema }), {
      pt: 'A consulta, com o id que um empréstimo pode citar',
      en: 'The query, with the id that a loan may name',
    }),
    errors: [...TOLD.errors, 'TRANSICAO_INVALIDA'],
  })(async (call, { pool }) => {
    const { cpf: workerCpf, numero_inscricao_empregador: employerCnpj, consulta_margem_id: ownId } = call.body;
    return reportOfPartner(pool, call, async (within, provenance) => {
      const answer = marginOf(call.body);
      const resources = await within.transaction((tx) =>
        reportMargin(tx, provenance, { workerCpf, employerCnpj }, answer, ownId),
      );
      if ('refused' in resources) return resources;
      return { ok: { status: 201, body: { consulta_margem_id: resources.ok } } as const };
    });
  }),
  route('POST /v1/nucleo/repasses', 'nucleo', {
    since: '0.3',
    ...TOLD,
    summary: {
      pt: 'O repasse do mês de um parceiro fecha; fechar de novo responde o que existe, com ja_fechado true',
      en: "A partner's month closes; closing it again answers what there is, with ja_fechado true",
    },
    body: resources.monthOfPartner,
    answers: answered(200, resources.closedMonth, { pt: 'O repasse', en: 'The settlement' }),
    errors: [...TOLD.errors, 'TRANSICAO_INVALIDA'],
  })(async (call, { pool }) => {
    const { competencia, total_parcelas, numero_ccbs, valor_total } = call.body;
    const isReported = total_parcelas !== undefined && numero_ccbs !== undefined && valor_total !== undefined;
    const totals = isReported ? { total_parcelas, numero_ccbs, valor_total } : null;
    return reportOfPartner(pool, call, async (within, provenance) => {
      const closing = await closeSettlement(within, provenance, competencia, undefined, totals);
      if ('refused' in closing) return closing;
      const { settlement, alreadyClosed } = closing.ok;
      return { ok: { status: 200, body: { ...settlement, ja_fechado: alreadyClosed } } as const };
    });
  }),
  route('GET /v1/nucleo/emprestimos/{id}', 'nucleo', {
    since: '0.3',
    summary: {
      pt: 'Lê um empréstimo de qualquer parceiro, como está ou como estava numa versão',
      en: 'Reads a loan of any partner, as it is or as it was at a version',
    },
    query: versionQuery,
    answers: answered(200, loanResource, { pt: 'O empréstimo', en: 'The loan' }),
  })(async ({ id, query: { versao } }, { pool }) => {
    const state = versao !== undefined && versao > MAX_VERSION ? null : await readLoan(pool, null, id, versao);
    return state === null ? NOT_FOUND : { status: 200, body: view(state) };
  }),
  route('GET /v1/nucleo/eventos/{id}', 'nucleo', {
    since: '0.3',
    summary: {
      pt: 'Um evento do registro, emitido ou interno, com as suas entregas e as tentativas delas',
      en: 'An event of the log, emitted or internal, with its deliveries and their attempts',
    },
    answers: answered(200, resources.coreEvent, { pt: 'O evento', en: 'The event' }),
  })(async ({ id }, { pool, archives }) => {
    const read = () => readCoreEvent(pool, id);
    const event = (await read()) ?? ((await archives?.bringBack('id', id)) === true ? await read() : null);
    if (event === null) return NOT_FOUND;
    return { status: 200, body: { ...event, entregas: await readEventDeliveries(pool, event.parceiro_id, id) } };
  }),
  route('GET /v1/nucleo/catalogo', 'nucleo', {
    since: '0.3',
    summary: {
      pt: 'Os eventos que o registro aceita, com os seus payloads',
      en: 'The events that the log takes, with their payloads',
    },
    answers: answered(200, resources.catalog, { pt: 'O catálogo', en: 'The catalog' }),
  })(async (_, { pool }) => ({ status: 200, body: { itens: await readCatalog(pool) } })),
];

export function viewAccount({ id, name, active, signing, documents, issuance, createdAt }: PartnerRow) {
  return {
    id,
    nome: name,
    assinatura: signing,
    documentos: documents,
    emissao: issuance,
    ativo: active,
    criado_em: createdAt.toISOString(),
  };
}

function marginOf(body: z.output<typeof resources.reportedMargin>): ReportedMargin {
  if (body.resultado === 'falhou') return { failure: { kind: body.tipo_erro, error: body.erro } };
  return {
    earningsCentavos: toCentavos(body.valor_total_vencimentos),
    marginCentavos: toCentavos(body.valor_margem_disponivel),
  };
}
