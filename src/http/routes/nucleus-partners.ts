/** Partners and their webhooks as the lender's core brings them in, with the ids that it has. */
import * as told from '../../contract/resources/nucleus-resource.ts';
import { NOT_FOUND, type Result, taken } from '../../contract/refusals.ts';
import * as contract from '../../contract/resources/webhook.ts';
import { id as idSchema } from '../../contract/values.ts';
import { onceForLender } from '../../core/loans/nucleus.ts';
import type { Tx } from '../../db/pool.ts';
import { codeOf } from '../../db/unavailable.ts';
import { changePartner, createPartner, lockPartner, type PartnerRow } from '../../steering/partners.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { targetUrl } from '../target-url.ts';
import { CORE_DOOR } from './loan-facts.ts';
import { newWebhook } from './webhooks.ts';

const PATH = `${CORE_DOOR.prefix}/parceiros` as const;
const KEYED = ['IDEMPOTENCIA_EM_ANDAMENTO', 'IDEMPOTENCIA_DIVERGENTE'] as const;
const ACCOUNT = answered(200, told.partnerAccount, { pt: 'A conta', en: 'The account' });

export const nucleusPartnerRoutes: Routes = [
  route(`POST ${PATH}`, 'nucleo', {
    since: '0.4',
    summary: {
      pt: 'Cria um parceiro, com o id que o núcleo tem',
      en: 'Creates a partner, with the id that the core has',
    },
    body: told.newPartner,
    idempotencyKey: 'optional',
    answers: answered(201, told.partnerAccount, { pt: 'A conta', en: 'The account' }),
    errors: [...KEYED, 'TRANSICAO_INVALIDA'],
  })(async ({ body, path, idempotencyKey: key, actor }, { pool }) => {
    return onceForLender(pool, { operation: `POST ${path}`, key, body }, async (within) => {
      const { id = null, nome: name, assinatura: signing, documentos: documents, emissao: issuance } = body;
      try {
        const account = { name, signing, documents, issuance };
        const made = await within.transaction((tx) => createPartner(tx, account, actor, id));
        return { ok: { status: 201, location: null, body: viewAccount(made) } as const };
      } catch (error) {
        if (codeOf(error) !== '23505' || id === null) throw error;
        return taken('id', id);
      }
    });
  }),
  route(`PUT ${PATH}/{id}`, 'nucleo', {
    since: '0.4',
    summary: {
      pt: 'Muda a conta de um parceiro; o que falta fica',
      en: "Changes a partner's account; what is left out stays",
    },
    body: told.partnerChange,
    answers: ACCOUNT,
  })(async ({ id, body, actor }, { pool }) => {
    const { nome: name, assinatura: signing, documentos: documents, emissao: issuance } = body;
    const changed = await pool.transaction<Result<PartnerRow, 'notFound'>>(async (tx) => {
      if (!(await isThere(tx, id))) return NOT_FOUND;
      return { ok: await changePartner(tx, id, { name, signing, documents, issuance }, { actor, reason: null }) };
    });
    return 'refused' in changed ? changed : { status: 200, body: viewAccount(changed.ok) };
  }),
  ({ allowInsecure }) =>
    route(`POST ${PATH}/{id}/webhooks`, 'nucleo', {
      since: '0.4',
      summary: {
        pt: 'Dá um webhook a um parceiro; o secret só aparece nesta resposta',
        en: 'Gives a partner a webhook; the secret is shown in this answer alone',
      },
      body: contract.createWebhook(targetUrl(allowInsecure)),
      idempotencyKey: 'optional',
      answers: answered(201, contract.createdWebhook, { pt: 'Webhook registrado', en: 'The webhook was registered' }),
      errors: [...KEYED, 'LIMITE_DE_WEBHOOKS'],
    })(async ({ id: partnerId, path, actor, requestId, body, idempotencyKey: key }, deps) => {
      const begun = await newWebhook(deps, { partnerId, actor, requestId, url: body.url, events: body.eventos });
      if ('refused' in begun) return begun;
      const { make, shownOnce } = begun;
      const made = await onceForLender(deps.pool, { operation: `POST ${path}`, key, body }, (within) =>
        within.transaction(async (tx) => ((await isThere(tx, partnerId)) ? make(tx) : NOT_FOUND)),
      );
      return 'refused' in made ? made : { status: 201, body: { ...made.body, ...shownOnce } };
    }),
];

async function isThere(tx: Tx, id: string): Promise<boolean> {
  return idSchema.safeParse(id).success && (await lockPartner(tx, id)) !== null;
}

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
