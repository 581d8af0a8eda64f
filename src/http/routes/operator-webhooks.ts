/** `/v1/operador/webhooks`: the webhooks of all partners, watched, muted, unmuted and capped. */
import { z } from 'zod';
import { NOT_FOUND } from '../../contract/refusals.ts';
import * as contract from '../../contract/resources/operator.ts';
import { id as uuid } from '../../contract/values.ts';
import type { Tx } from '../../db/pool.ts';
import { actorOf } from '../../admin/author.ts';
import { readBounded } from '../../admin/bounds.ts';
import { listFailing } from '../../admin/failures.ts';
import { listWebhooks, readLines, readWebhook, type WebhookLine } from '../../admin/webhooks.ts';
import { capWebhook, muteWebhook, type Operator, unmuteWebhook } from '../../webhooks/muting.ts';
import { bigintField } from '../cursor.ts';
import type { HttpDeps } from '../deps.ts';
import { answered } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { cursor, limite, PAGE_ANSWER } from '../page.ts';

const PATH = '/v1/operador/webhooks';
const ONE = { pt: 'O webhook', en: 'The webhook' };

/** States of the list, each with that of the admin room; `com_falhas` is a list of its own. */
const STATES = { silenciado: 'muted', inativo: 'inactive', falhando: 'falhando' } as const;

export const afterId = z.tuple([uuid]);
/** The line of a history before which the next older ones are. */
export const beforeLine = z.tuple([bigintField]);
export const historyQuery = z.strictObject({ cursor });

export function operatorOf({ actor, body }: { actor: string; body: { motivo?: string | undefined } }): Operator {
  return { actor: actorOf(actor), reason: body.motivo?.trim() ?? null };
}

async function done<R extends { readonly ok: unknown } | { readonly refused: unknown }>(
  { pool }: HttpDeps,
  id: string,
  act: (tx: Tx) => Promise<R>,
) {
  const result = await pool.transaction(act);
  if ('refused' in result) return result as Extract<R, { readonly refused: unknown }>;
  const [line] = await pool.run((sql) => readLines(sql, [id]));
  if (line === undefined) throw new Error('a webhook that was changed is gone');
  return { status: 200, body: view(line) } as const;
}

const shared = {
  answers: answered(200, contract.operatorWebhook, ONE),
  errors: ['TRANSICAO_INVALIDA'],
} as const;

export const operatorWebhookRoutes: Routes = [
  route(`GET ${PATH}`, 'operador', {
    summary: {
      pt: 'Webhooks de todos os parceiros, ou de um, do mais antigo ao mais novo',
      en: 'Webhooks of all partners, or of one, the oldest first',
    },
    description: {
      pt: 'estado com_falhas: os que mais falharam na última hora, o pior primeiro, numa página só. Uma página pode trazer menos itens do que o limite e ainda ter proximo_cursor.',
      en: 'estado com_falhas: those that failed most in the last hour, the worst first, on one page. A page may bring fewer items than the limit and still have proximo_cursor.',
    },
    query: z.strictObject({
      parceiro_id: uuid.optional(),
      estado: z.enum(['silenciado', 'inativo', 'falhando', 'com_falhas']).optional(),
      cursor,
      limite,
    }),
    answers: answered(200, contract.operatorWebhooks, PAGE_ANSWER),
  })(async ({ query: { parceiro_id: partnerId, estado, cursor: given, limite: limit } }, { pool, cursors }) => {
    const list = `${PATH} ${JSON.stringify([partnerId, estado])}`;
    const after = await cursors.read(list, afterId, given);
    if (estado === 'com_falhas') {
      const failing = await readBounded(pool, (sql) => listFailing(sql, partnerId, limit));
      const itens = failing.rows.map((row) => Object.assign(view(row), { falhas_ultima_hora: row.failedLastHour }));
      return { status: 200, body: { itens, proximo_cursor: null } };
    }
    const filter = { partnerId, state: estado && STATES[estado] };
    const page = { after: after?.[0] ?? null, limit };
    const { rows, next } = await readBounded(pool, (sql) => listWebhooks(sql, filter, page));
    const proximo_cursor = next && (await cursors.write(list, [next]));
    return { status: 200, body: { itens: rows.map(view), proximo_cursor } };
  }),
  route(`GET ${PATH}/{id}`, 'operador', {
    summary: {
      pt: 'Um webhook: o que espera, e o seu histórico, da linha mais nova à mais antiga',
      en: 'A webhook: what waits, and its history, the newest line first',
    },
    description: {
      pt: `Entregas são contadas até ${contract.COUNTED}: ${contract.COUNTED + 1} quer dizer mais.`,
      en: `Deliveries are counted up to ${contract.COUNTED}: ${contract.COUNTED + 1} means more.`,
    },
    query: historyQuery,
    answers: answered(200, contract.shownWebhook, ONE),
  })(async ({ id, query }, { pool, cursors }) => {
    const list = `${PATH} ${id}`;
    const before = await cursors.read(list, beforeLine, query.cursor);
    const found = await readBounded(pool, (sql) => readWebhook(sql, id, before?.[0] ?? null));
    if (found === null) return NOT_FOUND;
    const { pending, inFlight, suspended, failed } = found.deliveries;
    const body = {
      ...view(found),
      certificado_ate: found.receiverUntil?.toISOString() ?? null,
      certificado_proprio_ate: found.ownUntil?.toISOString() ?? null,
      entregas: { pendentes: pending, em_andamento: inFlight, suspensas: suspended, em_erro: failed },
      historico: found.history.map(viewLine),
      proximo_cursor: found.olderThan && (await cursors.write(list, [found.olderThan])),
    };
    return { status: 200, body };
  }),
  route(`POST ${PATH}/{id}/silenciar`, 'operador', {
    ...shared,
    summary: {
      pt: 'Nada mais é enviado ao webhook até ser reaberto; o que vier espera',
      en: 'Nothing more is sent to the webhook until it is unmuted; what comes waits',
    },
    body: contract.act,
  })((call, deps) => done(deps, call.id, (tx) => muteWebhook(tx, call.id, operatorOf(call)))),
  route(`POST ${PATH}/{id}/reabrir`, 'operador', {
    ...shared,
    summary: {
      pt: 'O webhook volta a receber: tudo o que espera vence já, dentro do limite',
      en: 'The webhook is sent to again: all that waits is due at once, within the cap',
    },
    body: contract.act,
  })((call, deps) => done(deps, call.id, (tx) => unmuteWebhook(tx, call.id, operatorOf(call)))),
  route(`PUT ${PATH}/{id}/limite`, 'operador', {
    ...shared,
    summary: {
      pt: 'Quantas entregas do webhook podem estar em andamento ao mesmo tempo',
      en: 'How many deliveries of the webhook may be in flight at once',
    },
    body: contract.capChange,
  })((call, deps) => done(deps, call.id, (tx) => capWebhook(tx, call.id, call.body.limite, operatorOf(call)))),
];

function view(line: WebhookLine): contract.OperatorWebhook {
  const { id, partnerId, partner, url, events, active, cap, silent, mutedAt, failingSince } = line;
  return {
    id,
    parceiro_id: partnerId,
    parceiro: partner,
    url,
    eventos: [...events],
    ativo: active,
    limite: cap,
    sem_resposta: silent,
    silenciado_desde: mutedAt?.toISOString() ?? null,
    falhando_desde: failingSince?.toISOString() ?? null,
  };
}

interface Line<C> {
  readonly changedAt: Date;
  readonly change: C;
  readonly actor: string;
  readonly reason: string | null;
}

export function viewLine<C extends string>({ changedAt, change, actor, reason }: Line<C>) {
  return { mudou_em: changedAt.toISOString(), mudanca: change, autor: actor, motivo: reason };
}
