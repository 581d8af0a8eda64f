/** One delivery as its partner sees it: its requests, why it waits, its evidence; and the order to send it again. */
import { sentHeader } from '../../audit/checkpoint/checkpoint.ts';
import { readNotesAt } from '../../audit/checkpoint/stored.ts';
import { maskProof } from '../../audit/proof/mask-proof.ts';
import { requestProof } from '../../audit/proof/proof.ts';
import { HEADER_CHECKPOINT } from '../../contract/delivery.ts';
import { NOT_FOUND } from '../../contract/refusals.ts';
import { proof } from '../../contract/resources/audit-resource.ts';
import * as contract from '../../contract/resources/delivery-resource.ts';
import { z } from 'zod';
import { nextSlot, scheduleOf } from '../../contract/schedule.ts';
import { explainDelivery } from '../../delivery/partner/explain.ts';
import { type FoundDelivery, readDelivery } from '../../delivery/partner/read-deliveries.ts';
import { type AttemptsWanted, NEWEST } from '../../delivery/partner/read-attempts.ts';
import { type OpenSecret, readSent, type SentDelivery } from '../../delivery/partner/read-sent.ts';
import { resendOne } from '../../delivery/partner/resend.ts';
import { answered } from '../answer.ts';
import type { HttpDeps } from '../deps.ts';
import { cursor } from '../page.ts';
import { route, type Routes } from '../route.ts';

const AS_SENT = {
  pt:
    'corpo é o texto enviado: os seus bytes em UTF-8 são os do corpo de toda tentativa. Os cabeçalhos são refeitos do que ficou ' +
    'registrado, com as assinaturas dos secrets daquele momento; onde já não se sabe qual secret assinou ' +
    '(assinaturas_conhecidas: false), vêm sem elas. User-Agent é o da versão atual, traceparent o do evento, e X-Carteiro-Checkpoint o mais novo no início da ' +
    'tentativa, que pode ter levado o anterior. Uma tentativa que não chegou a ser enviada não tem cabeçalhos.',
  en: "corpo is the text that was sent: its bytes in UTF-8 are those of every attempt's body. Headers are made again from what was recorded, signed by the secrets of that moment; where it is not known any more which secret signed (assinaturas_conhecidas: false), they come without signatures. User-Agent is that of the present version, traceparent the event's, and X-Carteiro-Checkpoint the newest at the attempt's start; the one before it may have been sent. An attempt that sent nothing has no headers.",
};

const attemptFields = z.tuple([
  z
    .string()
    .regex(/^[1-9]\d{0,8}$/)
    .transform(Number),
  z.enum(['true', 'false']),
]);
const OLDER = {
  pt: 'O tentativas_depois de uma resposta anterior desta entrega: as tentativas antes daquelas',
  en: 'The tentativas_depois of an earlier answer of this delivery: the attempts before those',
};

export const deliveryRoutes: Routes = [
  route('GET /v1/entregas/{id}', 'webhooks:read', {
    summary: {
      pt: 'Uma entrega com o corpo exato e as suas tentativas, cada uma com os cabeçalhos enviados',
      en: 'A delivery with its exact body and its attempts, each with the headers that were sent',
    },
    description: AS_SENT,
    query: z.strictObject({ tentativas_depois: cursor.meta({ text: OLDER }) }),
    answers: answered(200, contract.deliveryAsSent, {
      pt: 'A entrega, com o que foi enviado',
      en: 'The delivery, with what was sent',
    }),
  })(async ({ partnerId, id, query: { tentativas_depois: given } }, deps) => {
    const { pool, vault, cursors } = deps;
    const list = `tentativas ${id}`;
    const before = await cursors.read(list, attemptFields, given, 'tentativas_depois');
    const wanted = { ...NEWEST, before: before && ([before[0], before[1] === 'true'] as const) };
    const { found, rows } = await readOne(deps, partnerId, id, wanted);
    if (found === null) return NOT_FOUND;
    const openSecret: OpenSecret = (webhookId, sealed) => vault.decrypt(webhookId, sealed);
    const numbers = found.attempts.map(({ numero }) => numero);
    // Read after it, so it has each of its attempts.
    const sent = await readSent(pool, openSecret, partnerId, id, numbers, rows);
    if (sent === null) return NOT_FOUND;
    const next = found.older && (await cursors.write(list, found.older.map(String)));
    return { status: 200, body: { ...asSent(found, sent, await checkpointsOf(deps, sent)), tentativas_depois: next } };
  }),
  route('POST /v1/entregas/{id}/reenvio', 'webhooks:write', {
    summary: {
      pt: 'Envia a entrega de novo, com o mesmo id e o calendário desde o início',
      en: 'Sends the delivery again, with the same id and a fresh schedule',
    },
    answers: answered(202, contract.delivery, { pt: 'A entrega, pendente', en: 'The delivery, pending' }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ partnerId, id, actor, requestId }, { pool }) => {
    const resent = await pool.transaction((tx) => resendOne(tx, partnerId, id, { actor, requestId }));
    if ('refused' in resent) return resent;
    const found = await readDelivery(pool, partnerId, id, { before: null, most: 0 });
    return found === null ? NOT_FOUND : { status: 202, body: found.delivery };
  }),
  route('GET /v1/entregas/{id}/espera', 'webhooks:read', {
    summary: { pt: 'Por que uma entrega espera, em uma frase', en: 'Why a delivery waits, in one sentence' },
    answers: answered(200, contract.deliveryWait, { pt: 'O motivo', en: 'The reason' }),
  })(async ({ partnerId, id }, { pool }) => {
    const found = await pool.run((sql) => explainDelivery(sql, id, partnerId));
    if (found === null) return NOT_FOUND;
    const { reason: motivo, pt: explicacao, facts } = found;
    const proxima_tentativa_em = facts.nextAttemptAt?.toISOString() ?? null;
    return { status: 200, body: { entrega_id: id, status: facts.status, motivo, explicacao, proxima_tentativa_em } };
  }),
  route('GET /v1/entregas/{id}/prova', 'webhooks:read', {
    masksItself: true,
    summary: {
      pt: 'A prova de uma entrega, inteira: o corpo, as tentativas e o caminho de cada linha a um checkpoint assinado',
      en: 'The evidence of a delivery, whole: body, attempts and the way from each row to a signed checkpoint',
    },
    answers: answered(200, proof, { pt: 'A prova', en: 'The evidence' }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ partnerId, id, isMasked }, deps) => {
    // First whether the partner has it: a proof is read by its id alone.
    const { found: delivery, rows } = await readOne(deps, partnerId, id, { before: null, most: 0 });
    const found = delivery === null ? NOT_FOUND : await requestProof(deps.pool, id, null, async () => rows);
    if ('refused' in found) return found;
    return { status: 200, body: isMasked ? maskProof(found) : found };
  }),
];

/** A delivery of the partner, and the rows of an archive where it left the database. */
async function readOne({ pool, archives }: HttpDeps, partnerId: string, id: string, wanted: AttemptsWanted) {
  const found = await readDelivery(pool, partnerId, id, wanted);
  const rows = found === null ? ((await archives?.delivery(id)) ?? null) : null;
  return { rows, found: rows === null ? found : await readDelivery(pool, partnerId, id, wanted, rows) };
}

/** When a delivery will be tried, should each attempt fail as it starts: the next at its time, the others after their delays. */
function plannedAttempts(delivery: contract.DeliveryResource, failures: number): string[] {
  const { status, proxima_tentativa_em } = delivery;
  if (status !== 'pendente' || proxima_tentativa_em === null) return [];
  const planned: string[] = [];
  let atMs: number | null = Date.parse(proxima_tentativa_em);
  for (let spent = failures + 1; atMs !== null; spent += 1) {
    planned.push(new Date(atMs).toISOString());
    atMs = nextSlot(spent, atMs, scheduleOf(delivery));
  }
  return planned;
}

/** The header of each attempt; null where none was sent. */
async function checkpointsOf({ pool, sendsCheckpoint }: HttpDeps, { attempts }: SentDelivery) {
  if (!sendsCheckpoint) return attempts.map(() => null);
  const times = attempts.map(({ startedAt }) => startedAt);
  const notes = await pool.run((sql) => readNotesAt(sql, times));
  return notes.map((note) => (note === null ? null : sentHeader(note)));
}

function asSent({ delivery, attempts }: FoundDelivery, sent: SentDelivery, checkpoints: readonly (string | null)[]) {
  const { body, failures: falhas } = sent;
  const tentativas = attempts.map((attempt) => {
    const at = sent.attempts.findIndex(({ number, late }) => number === attempt.numero && late === attempt.atrasada);
    const made = sent.attempts[at];
    if (made === undefined) throw new Error('an attempt that was read is gone');
    const { url, address: endereco, headers, isSigned: assinaturas_conhecidas } = made;
    const cabecalhos = headers.map(([nome, valor]) => ({ nome, valor }));
    const checkpoint = checkpoints[at] ?? null;
    if (cabecalhos.length > 0 && checkpoint !== null) cabecalhos.push({ nome: HEADER_CHECKPOINT, valor: checkpoint });
    return { ...attempt, url, endereco, cabecalhos, assinaturas_conhecidas };
  });
  return {
    ...delivery,
    corpo: body.toString('utf8'),
    tentativas,
    falhas,
    tentativas_previstas: plannedAttempts(delivery, falhas),
  };
}
