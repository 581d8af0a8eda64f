/** Why a delivery waits: one read of its row, webhook, lane and pollers, and the first rule that holds. */
import type { DELIVERY_STATUSES, Outcome, WaitingReason } from '../../contract/statuses.ts';
import type { Tx } from '../../db/pool.ts';

export interface WaitingFacts {
  readonly partnerId: string;
  readonly webhookId: string;
  readonly status: (typeof DELIVERY_STATUSES)[number];
  readonly failures: number;
  readonly lastOutcome: Outcome | null;
  /** Null: none is planned, or the delivery waits for another of its loan. */
  readonly nextAttemptAt: Date | null;
  readonly isHeld: boolean;
  readonly claimedBy: string | null;
  readonly claimedS: number | null;
  readonly isLost: boolean;
  readonly dueS: number;
  readonly isPartnerActive: boolean;
  readonly isWebhookActive: boolean;
  readonly mutedAt: Date | null;
  readonly failingSince: Date | null;
  /** Attempts since the webhook's URL was set, all without a 2xx; null: one was answered 2xx. */
  readonly refusals: number | null;
  readonly quietUntil: Date | null;
  /** Of the webhook, over all pollers; counted up to 1,001, above every cap. */
  readonly inFlight: number;
  readonly window: number;
  readonly livingPollers: number;
  /** The fault of ours that keeps the webhook's deliveries from being sent. */
  readonly sendFault: string | null;
  readonly sendFaultSince: Date | null;
}

export interface Explanation {
  readonly reason: WaitingReason;
  readonly pt: string;
  readonly en: string;
  readonly facts: WaitingFacts;
}

/** Null when the id does not exist or, with `partnerId`, is another's. */
export async function explainDelivery(sql: Tx, id: string, partnerId: string | null): Promise<Explanation | null> {
  const [facts] = await sql<WaitingFacts[]>`
    with flying as materialized (select * from flights())
    select d.partner_id as "partnerId", d.webhook_id as "webhookId", d.status, d.failures, last.outcome as "lastOutcome",
           case when not held.is_held then greatest(d.next_attempt_at, case when d.next_attempt_at < d.created_at then d.created_at end) end as "nextAttemptAt", held.is_held as "isHeld", own.poller || '/' || own.claim as "claimedBy",
           extract(epoch from now() - own.claimed_at)::float8 as "claimedS",
           coalesce(own.claimed_at <= now() - lease(), false) as "isLost",
           coalesce(extract(epoch from now() - d.next_attempt_at), 0)::float8 as "dueS",
           p.active as "isPartnerActive", w.active as "isWebhookActive", lane.muted_at as "mutedAt",
           lane.failing_since as "failingSince", w.refusals, case when w.quiet_until > now() then w.quiet_until end as "quietUntil",
           flying.count::int as "inFlight",
           least(floor(lane.window_size), lane.max_in_flight)::int as window,
           (select count(*)::int from processes where role = 'poller' and seen_at > now() - interval '30 seconds') as "livingPollers",
           fault.reason as "sendFault", fault.since as "sendFaultSince"
    from deliveries d
    left join present_send_faults fault on fault.webhook_id = d.webhook_id
    left join flying own on own.delivery_id = d.id
    join webhooks w on w.id = d.webhook_id
    join partners p on p.id = d.partner_id
    cross join lateral (
      select muted_at, failing_since, window_size, max_in_flight, in_order, resumes_until from lanes
      where webhook_id = d.webhook_id
    ) lane
    cross join lateral (
      select lane.in_order and d.status = 'pendente' and exists (
        select from events e cross join lateral first_ahead(d.webhook_id, e.stream, e.version, coalesce(lane.resumes_until > now(), false))
        where e.id = d.event_id and e.is_of_loan
      ) as is_held
    ) held
    cross join lateral (
      select count(*) from (
        select from flying o where o.webhook_id = d.webhook_id and o.claimed_at > now() - lease() limit 1001
      ) some_of_them
    ) flying
    left join lateral (
      select outcome from attempts where delivery_id = d.id order by number desc, late desc limit 1
    ) last on true
    where d.id = ${id} and (${partnerId}::uuid is null or d.partner_id = ${partnerId})`;
  return facts === undefined ? null : { ...explain(facts), facts };
}

type Said = Omit<Explanation, 'facts'>;

const said = (reason: WaitingReason, pt: string, en: string): Said => ({ reason, pt, en });
const seconds = (s: number | null) => Math.max(0, Math.round(s ?? 0));

/** Rules go from what stops a delivery for good to what takes a moment. */
export function explain(facts: WaitingFacts): Said {
  return explainEnd(facts) ?? explainClaim(facts) ?? explainHold(facts) ?? explainDue(facts);
}

function explainEnd({ status, failures, isPartnerActive, isWebhookActive }: WaitingFacts): Said | null {
  if (status === 'entregue') return said('encerrada', 'Foi entregue.', 'It was delivered.');
  if (status === 'erro') {
    const [pt, en] = ['Terminou em erro', 'It ended in erro'];
    const again = 'POST /v1/entregas/{id}/reenvio';
    return said(
      'encerrada',
      `${pt} depois de ${failures} falhas: ${again} a envia de novo.`,
      `${en} after ${failures} failures: delivery resend sends it again.`,
    );
  }
  if (!isPartnerActive)
    return said('parceiro_inativo', 'O parceiro está inativo.', 'Its partner was deactivated: partner reactivate.');
  if (status === 'suspensa' || !isWebhookActive) {
    const resume = 'PATCH /v1/webhooks/{id} {"ativo": true, "retomar": true}';
    return said(
      'webhook_inativo',
      `O webhook está, ou esteve, inativo: ${resume} envia o que ficou suspenso.`,
      `Its webhook is, or was, inactive: the partner sends what is suspended with ${resume}.`,
    );
  }
  return null;
}

function explainClaim({ claimedBy, claimedS, isLost }: WaitingFacts): Said | null {
  if (claimedBy === null) return null;
  const s = seconds(claimedS);
  return isLost
    ? said(
        'tentativa_perdida',
        'Não se sabe o fim da última tentativa; ela é refeita em instantes.',
        `The poller of claim ${claimedBy} was lost ${s} s after it took it: the next claim ends that and sends again.`,
      )
    : said(
        'em_andamento',
        `Uma tentativa está em andamento há ${s} s.`,
        `An attempt is under way: claim ${claimedBy} has held it for ${s} s.`,
      );
}

export const FAULT_ADVICE = 'doctor tells what to do; where the key of a secret is lost, secrets replace';

function explainHold(facts: WaitingFacts): Said | null {
  const { mutedAt, isHeld, nextAttemptAt, dueS, failures, lastOutcome, sendFault, sendFaultSince } = facts;
  if (mutedAt !== null) {
    const since = mutedAt.toISOString();
    return said(
      'silenciado',
      `O operador silenciou o webhook em ${since}; ela segue quando ele for reativado.`,
      `An operator muted its webhook at ${since}: webhook unmute lets it go.`,
    );
  }
  if (isHeld) {
    return said(
      'outra_do_emprestimo',
      'Espera outra entrega, anterior, do mesmo empréstimo: o webhook as recebe em ordem.',
      'It waits for an earlier delivery of its loan, because its webhook takes them in order.',
    );
  }
  if (sendFault !== null) {
    const since = sendFaultSince?.toISOString();
    return said(
      'falha_nossa',
      `Uma falha nossa impede o envio desde ${since}; nenhuma tentativa é gasta, e ela segue sozinha.`,
      `A fault of this side keeps it from being sent since ${since}, and is tried again every minute: ${sendFault}. ${FAULT_ADVICE}.`,
    );
  }
  if (dueS >= 0 || nextAttemptAt === null) return null;
  const [at, after] = [nextAttemptAt.toISOString(), `${failures} (${lastOutcome ?? 'desconhecido'})`];
  if (lastOutcome === 'erro_autorizacao') {
    return said(
      'sem_autorizacao',
      `O servidor de token do webhook não deu um token; a próxima tentativa é em ${at}. Veja o erro da última tentativa e /v1/webhooks/{id}/credenciais.`,
      `The token server of its webhook gave no token; its next attempt is at ${at}. See the error of its last attempt, and the webhook's credentials.`,
    );
  }
  return failures === 0
    ? said('proxima_tentativa', `Está marcada para ${at}.`, `It is due at ${at}.`)
    : said(
        'proxima_tentativa',
        `A próxima tentativa é em ${at}; falhas até agora: ${after}.`,
        `Its next attempt is at ${at}; failures so far: ${after}.`,
      );
}

function explainDue(facts: WaitingFacts): Said {
  const { livingPollers, failingSince, inFlight, window, dueS } = facts;
  const s = seconds(dueS);
  if (livingPollers === 0)
    return said(
      'sem_poller',
      `Está na fila há ${s} s por uma falha nossa, e segue sozinha.`,
      `It has been due for ${s} s and no poller lives: start poll.`,
    );
  const consent = explainConsent(facts);
  if (consent !== null) return consent;
  if (failingSince !== null && inFlight >= 1)
    return said(
      'webhook_falhando',
      'O webhook está falhando, e recebe uma entrega por vez até responder bem.',
      `Its webhook has been falhando since ${failingSince.toISOString()}: one delivery at a time probes it, ${inFlight} in flight.`,
    );
  if (inFlight >= window)
    return said(
      'limite_do_webhook',
      `O webhook já tem ${inFlight} entregas em andamento, tantas quantas as suas respostas permitem agora: responda mais depressa.`,
      `All ${window} slots of its webhook's window are in use (${inFlight} in flight): its answers set the window, webhook cap its ceiling.`,
    );
  return said(
    'a_caminho',
    `Está na fila há ${s} s e é a próxima a ser enviada.`,
    `It has been due for ${s} s and a poller takes it next; if that does not pass, see queue status for late lanes and full pollers.`,
  );
}

function explainConsent({ refusals, quietUntil, inFlight }: WaitingFacts): Said | null {
  if (refusals === null || (quietUntil === null && inFlight === 0)) return null;
  const [pt, en] = ['A URL do webhook ainda não respondeu 2xx', 'The URL of its webhook has not answered 2xx yet'];
  if (quietUntil === null)
    return said(
      'sem_consentimento',
      `${pt}: até lá recebe uma entrega por vez.`,
      `${en}: until then one delivery is sent at a time.`,
    );
  const at = quietUntil.toISOString();
  return said(
    'sem_consentimento',
    `${pt} em ${refusals} tentativas: recebe uma por minuto, a próxima depois de ${at}. Responda 2xx a uma delas.`,
    `${en}, in ${refusals} attempts: one a minute is sent, the next one after ${at}.`,
  );
}
