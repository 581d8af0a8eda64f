/** One delivery: its state, its requests and answers, and the possible actions. */
import { html } from 'hono/html';
import { checkpointHeader } from '../../audit/checkpoint/checkpoint.ts';
import { HEADER_CHECKPOINT } from '../../contract/delivery.ts';
import { ERASED } from '../../contract/erasure.ts';
import type { DeliveryAsSent, DeliveryWait, SentAttempt } from '../../contract/resources/delivery-resource.ts';
import type { ShownCredentials } from '../../contract/resources/webhook-credentials.ts';
import type { WebhookResource } from '../../contract/resources/webhook.ts';
import { MASK } from '../../contract/masking/masking.ts';
import { scheduleOf, slotsOf } from '../../contract/schedule.ts';
import { adviceOf } from '../../webhooks/advice.ts';
import { addressOf, type Refusal, Refused } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { confirmed } from '../frame/forms.ts';
import type { Page } from '../frame/page.ts';
import { badge, code, copyable, dim, fact, moment, onward, outcomeBadge, standing } from '../frame/parts.ts';
import { loanFact } from '../loans/pages.ts';
import { curlPart } from './papers.ts';

const INSTANT = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/;

export async function showDelivery(visit: Visit, refusal?: Refusal): Promise<Page> {
  const { t, api, id } = visit;
  const delivery = await api.read<DeliveryAsSent>(`/v1/entregas/${id}`, visit.query('tentativas_depois'));
  const { tentativas, tentativas_depois: older } = delivery;
  const webhook = await api.read<WebhookResource>(`/v1/webhooks/${delivery.webhook_id}`);
  const checkpoint = await newestCheckpoint(visit);
  const credentials = await api.read<ShownCredentials>(`/v1/webhooks/${delivery.webhook_id}/credenciais`);
  const wait = delivery.status === 'pendente' ? await api.read<DeliveryWait>(`/v1/entregas/${id}/espera`) : null;
  return {
    title: t.delivery.title(`…${id.slice(-12)}`),
    refusal,
    done: { reenvio: t.delivery.resent },
    body: html`${facts(visit, delivery, webhook)} ${wait && waitPart(visit, wait)} ${advicePart(visit, delivery)}
    ${actions(visit, delivery)} ${history(visit, delivery)}
    ${tentativas.map((attempt) => attemptPart(visit, attempt, credentials, attempt === tentativas.at(-1)))}
    ${onward(older && addressOf(`/painel/entregas/${id}`, { tentativas_depois: older }), t.delivery.older)}
    ${bodyPart(visit, delivery)} ${curlPart(visit, delivery, credentials)}
    ${checkpoint === null ? '' : checkpointPart(visit, checkpoint)}`,
  };
}

function facts(visit: Visit, delivery: DeliveryAsSent, webhook: WebhookResource): Html {
  const { t } = visit;
  const { evento_id: event } = delivery;
  return html`<dl class="facts">
    ${fact('Id', delivery.id, 'id')} ${fact(t.deliveries.status, standing(t, delivery))}
    ${fact(t.deliveries.event, html`${code(delivery.evento)} ${delivery.teste ? badge(t.delivery.test) : ''}`)}
    ${fact(t.delivery.eventId, delivery.teste ? event : html`<a href="/painel/eventos/${event}">${event}</a>`, 'id')}
    ${loanFact(visit, delivery)}
    ${fact(t.deliveries.webhook, html`<a href="/painel/webhooks/${webhook.id}">${webhook.url}</a>`, 'wrap')}
    ${fact(t.delivery.created, moment(visit, delivery.criada_em))}
    ${fact(t.delivery.finished, moment(visit, delivery.concluida_em))}
  </dl>`;
}

/** The API's own sentence; the page's other language has one for each reason. */
function waitPart(visit: Visit, { motivo, explicacao }: DeliveryWait): Html {
  const { c, t } = visit;
  const timed = explicacao.split(INSTANT).map((part, at) => (at % 2 === 1 ? moment(visit, part) : part));
  const said = c.var.language === 'pt' ? timed : t.delivery.waiting[motivo];
  return html`<p class="notice"><strong>${t.delivery.waits}</strong> ${said}</p>`;
}

const PAGE = /^\s{0,64}<(?:!doctype|html)/i;

/** What the newest failure tells, and the next step. */
function advicePart({ c, t }: Visit, { status, tentativas }: DeliveryAsSent): Html | '' {
  const last = tentativas.at(-1);
  if (status === 'entregue' || last === undefined || last.resultado === 'entregue') return '';
  const { cause, next } = adviceOf(last.resultado, last.status_http, PAGE.test(last.resposta?.slice(0, 128) ?? ''));
  const { language } = c.var;
  return html`<p class="notice notice-failed">
    ${cause[language].charAt(0).toUpperCase()}${cause[language].slice(1)}.
    <strong>${t.losses.next}</strong> ${next[language]}
  </p>`;
}

function actions(visit: Visit, delivery: DeliveryAsSent): Html {
  const { t } = visit;
  const path = `/painel/entregas/${delivery.id}`;
  const maySend = visit.mayWrite && delivery.corpo !== ERASED;
  return html`<div class="actions">
    ${maySend ? confirmed(visit, `${path}/reenvio`, t.delivery.resend, t.delivery.resendConfirm) : ''}
    <a class="button" href="${path}/prova" download aria-describedby="proof-hint">${t.delivery.proof}</a>
    <a class="button" href="${path}/comprovante">${t.delivery.sheet}</a>
    <span id="proof-hint" class="dim">${t.delivery.proofHint}</span>
  </div>`;
}

function history(visit: Visit, delivery: DeliveryAsSent): Html {
  const { t } = visit;
  return html`<section aria-labelledby="timeline">
    <h2 id="timeline">${t.delivery.timeline}</h2>
    <p class="dim">
      ${t.delivery.timelineHint}
      ${delivery.status === 'entregue' ? '' : t.delivery.spent(delivery.falhas, slotsOf(scheduleOf(delivery)))}
    </p>
    ${timeline(visit, delivery)} ${delivery.tentativas.length === 0 ? html`<p>${t.delivery.noAttempt}</p>` : ''}
  </section>`;
}

function attemptPart(visit: Visit, attempt: SentAttempt, credentials: ShownCredentials, isLast: boolean): Html {
  const { t } = visit;
  // The cause of a failure is not behind a click.
  const isOpen = isLast && attempt.resultado !== 'entregue';
  return html`<details class="attempt" ${isOpen ? html` open` : ''}>
    <summary>
      ${t.delivery.attempt(attempt.numero)} ${outcomeBadge(t, attempt.resultado, attempt.status_http)}
      ${attempt.atrasada ? dim(t.delivery.late) : ''} ${moment(visit, attempt.inicio)}
      ${attempt.duracao_ms === null ? '' : dim(t.words.ms(attempt.duracao_ms))}
    </summary>
    <dl class="facts">
      ${fact(t.webhooks.url, code(attempt.url), 'wrap')} ${fact(t.delivery.address, code(attempt.endereco ?? '–'))}
      ${attempt.erro === null ? '' : fact(t.delivery.error, code(attempt.erro), 'wrap')}
    </dl>
    ${attempt.cabecalhos.length === 0 ? '' : headersPart(visit, attempt, credentials)}
    <h3>${t.delivery.answer}</h3>
    ${attempt.resposta_cabecalhos.length === 0 ? '' : fields(t.delivery.answerHeaders, attempt.resposta_cabecalhos)}
    ${attempt.resposta === null ? html`<p class="dim">${t.delivery.noAnswer}</p>` : html`<pre tabindex="0" aria-label="${t.delivery.answer}">${attempt.resposta}</pre>`}
  </details>`;
}

function fields(label: string, headers: SentAttempt['cabecalhos']): Html {
  return html`<pre tabindex="0" aria-label="${label}">
${headers.map(({ nome, valor }) => `${nome}: ${valor}\n`).join('')}</pre>`;
}

function headersPart(
  { t }: Visit,
  { cabecalhos, assinaturas_conhecidas: isSigned }: SentAttempt,
  { cabecalhos: names, autorizacao }: ShownCredentials,
): Html {
  const kind =
    autorizacao === null ? [] : [['Authorization', `${autorizacao.tipo === 'basic' ? 'Basic' : 'Bearer'} ${MASK}`]];
  const hidden = [...kind, ...names.map((name) => [name, MASK])].map(([nome = '', valor = '']) => ({ nome, valor }));
  return html`<h3>${t.delivery.headers}</h3>
    ${fields(t.delivery.headers, [...cabecalhos, ...hidden])}
    ${hidden.length === 0 ? '' : html`<p class="dim">${t.delivery.credentialsHint}</p>`}
    <p class="dim">${isSigned ? t.delivery.headersHint : t.delivery.unsigned}</p>`;
}

function bodyPart({ t }: Visit, { corpo }: DeliveryAsSent): Html {
  return html`<section aria-labelledby="body">
    <h2 id="body">${t.delivery.body}</h2>
    <p class="dim">${corpo === ERASED ? t.events.erasedHint : t.delivery.bodyHint(Buffer.byteLength(corpo))}</p>
    ${corpo === ERASED ? '' : copyable(t, 'body-text', t.delivery.body, corpo)}
  </section>`;
}

/** The note; null before the first. */
async function newestCheckpoint({ api }: Visit): Promise<string | null> {
  try {
    return await (await api.pass('/v1/evidencia/checkpoint')).text();
  } catch (error) {
    if (error instanceof Refused && error.refusal.status === 404) return null;
    throw error;
  }
}

function checkpointPart({ t }: Visit, note: string): Html {
  return html`<section aria-labelledby="checkpoint">
    <h2 id="checkpoint">Checkpoint</h2>
    <p class="dim">${t.delivery.checkpointHint} <a href="/docs/verificacao">${t.delivery.checkpointDocs}</a></p>
    ${copyable(t, 'checkpoint-text', HEADER_CHECKPOINT, checkpointHeader(note))}
  </section>`;
}

/** Attempts against the schedule: those that were made, and those that it still plans. */
function timeline(
  visit: Visit,
  { tentativas, total_tentativas: last, tentativas_previstas: planned }: DeliveryAsSent,
): Html {
  const { t } = visit;
  const made = tentativas.map(
    (attempt) =>
      html`<li class="made made-${attempt.resultado === 'entregue' ? 'entregue' : 'erro'}">
        <strong>${t.delivery.attempt(attempt.numero)}</strong> ${moment(visit, attempt.inicio)}
        ${outcomeBadge(t, attempt.resultado, attempt.status_http)}
      </li>`,
  );
  const coming = planned.map(
    (at, index) =>
      html`<li class="planned">
        <strong>${t.delivery.attempt(last + index + 1)}</strong> ${moment(visit, at)} ${dim(t.delivery.planned)}
      </li>`,
  );
  return html`<ol class="timeline">
    ${made}${coming}
  </ol>`;
}
