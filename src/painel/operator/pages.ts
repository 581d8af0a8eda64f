/** The operator's pages: the queue and its pollers live, the webhooks that fail, those that are muted, and the jobs. */
import { html } from 'hono/html';
import type { Jobs, OperatorWait, OperatorWebhooks, Queue } from '../../contract/resources/operator.ts';
import { id as uuid } from '../../contract/values.ts';
import { notFound } from '../../http/api-error.ts';
import { addressOf } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { idForm } from '../frame/forms.ts';
import type { Guard } from '../frame/guard.ts';
import { OPERATE } from '../frame/nav.ts';
import type { Page } from '../frame/page.ts';
import { badge, code, fact, live, moment, onward, plainList } from '../frame/parts.ts';
import { shortId, shortUrl, statusBadge, table, tile } from '../frame/parts.ts';
import { addOperatorAccounts, linkTo } from './accounts.ts';
import { addOperatorWorkers } from './workers.ts';

const PATH = '/painel/operacao';
const EVERY_S = 2;
/** A job is overdue after that: each api looks every 15 s. */
const OVERDUE_S = 60;
/** Why a delivery waits is read at a path of its own. */
const KINDS = [
  ['parceiros', ''],
  ['entregas', '/espera'],
] as const;

export function addOperatorPages(guard: Guard): void {
  guard.show(PATH, OPERATE, showQueue);
  guard.show(`${PATH}/abrir`, OPERATE, async (visit) => {
    const id = uuid.safeParse(visit.query('id').id.toLowerCase());
    if (!id.success) throw notFound();
    for (const [kind, rest] of KINDS) {
      const { ok } = await visit.api.ask(`/v1/operador/${kind}/${id.data}${rest}`);
      if (ok) return visit.c.redirect(`${PATH}/${kind}/${id.data}`, 303);
    }
    return visit.c.redirect(`${PATH}/webhooks/${id.data}`, 303);
  });
  guard.show(`${PATH}/entregas/:id`, OPERATE, showWait);
  addOperatorAccounts(guard);
  addOperatorWorkers(guard);
}

async function showQueue(visit: Visit): Promise<Page> {
  const { t, api } = visit;
  const { depois } = visit.query('depois');
  const webhooks = (asked: Readonly<Record<string, string>>) =>
    api.read<OperatorWebhooks>('/v1/operador/webhooks', asked);
  const [queue, failing, muted, jobs] = await Promise.all([
    api.read<Queue>('/v1/operador/fila'),
    webhooks({ estado: 'com_falhas', limite: '50' }),
    webhooks({ estado: 'silenciado', cursor: depois }),
    api.read<Jobs>('/v1/operador/tarefas'),
  ]);
  const parts = html`${queuePart(visit, queue)} ${pollersPart(visit, queue)} ${failingPart(visit, failing)}
  ${mutedPart(visit, muted)} ${jobsPart(visit, jobs)}`;
  return {
    title: t.frame.operation,
    body: html`${idForm(`${PATH}/abrir`, t.operator.webhookId, '', t.operator.find)}
      ${live('agora', addressOf(PATH, { depois }), EVERY_S, parts)}
      <p><a href="${PATH}/apagamentos">${t.operator.erasures}</a></p>`,
  };
}

function mutedPart(visit: Visit, { itens, proximo_cursor }: OperatorWebhooks): Html {
  const { t } = visit;
  return html`<h2>${t.operator.muted}</h2>
    ${plainList(
      itens.map(
        (webhook) =>
          html`${linkTo(webhook)} ${webhook.parceiro} ${t.operator.mutedSince}
          ${moment(visit, webhook.silenciado_desde)}`,
      ),
      t.operator.noneMuted,
    )}
    ${onward(proximo_cursor && addressOf(PATH, { depois: proximo_cursor }), t.operator.more)}`;
}

function queuePart(
  visit: Visit,
  { espera_mais_longa_s, pendentes, contagem_exata, em_andamento, webhooks, registry_configurado }: Queue,
): Html {
  const { t } = visit;
  return html`${registry_configurado ? '' : html`<p class="notice">${t.operator.noRegistry}</p>`}
    <h2>${t.operator.queue}</h2>
    <dl class="tiles">
      ${tile(t.operator.oldestDue, `${Math.round(espera_mais_longa_s)} s`, espera_mais_longa_s > 60)}
      ${tile(t.overview.pending, `${pendentes}${contagem_exata ? '' : '+'}`)} ${tile(t.operator.inFlight, em_andamento)}
    </dl>
    ${laneTable(visit, webhooks)}`;
}

function laneTable({ t }: Visit, webhooks: Queue['webhooks']): Html {
  return table(
    t.operator.queue,
    [
      t.webhooks.url,
      t.frame.partner,
      t.operator.state,
      { number: t.overview.pending },
      { number: t.operator.inFlight },
      { number: t.operator.dueFor },
    ],
    webhooks.map((lane) => [
      html`<a class="wrap" href="${PATH}/webhooks/${lane.webhook_id}">${shortUrl(lane.url)}</a>
        <div class="dim">${shortId(lane.webhook_id)}</div>`,
      lane.parceiro,
      html`${badge(t.operator.states[lane.estado], lane.estado === 'saturada' ? 'erro' : undefined)}
      ${lane.falha_nossa === null ? '' : html`<div class="wrap">${t.operator.ourFault}: ${lane.falha_nossa}</div>`}`,
      lane.pendentes,
      lane.em_andamento,
      `${Math.round(lane.vencida_ha_s)} s`,
    ]),
    { empty: t.operator.emptyQueue },
  );
}

function pollersPart(visit: Visit, { pollers, certificados }: Queue): Html {
  const { t } = visit;
  return html`${
      certificados.length === 0
        ? ''
        : html`<h2>${t.operator.certificates}</h2>
            ${plainList(certificados.map(({ arquivo, valido_ate }) => html`${code(arquivo)} ${t.operator.goodUntil} ${moment(visit, valido_ate)}`))}`
    }
    <h2>${t.operator.pollers}</h2>
    <p class="dim">${t.operator.pollersHint}</p>
    ${plainList(
      pollers.map(
        ({ poller, tentativas_ultimo_minuto: attempts, visto_ha_s: seen }) =>
          html`${code(poller)} ${t.operator.attempts(attempts, Math.round(seen))}`,
      ),
    )}`;
}

function failingPart({ t }: Visit, { itens }: OperatorWebhooks): Html {
  return html`<h2>${t.operator.failing}</h2>
    ${plainList(
      itens.map(
        (webhook) =>
          html`${linkTo(webhook)} ${webhook.parceiro} ${t.operator.failures(webhook.falhas_ultima_hora ?? 0)}`,
      ),
      t.overview.noneFailing,
    )}`;
}

/** What the service does by itself: each job with its schedule, its last run and what came of it. */
function jobsPart(visit: Visit, { itens }: Jobs): Html {
  const { operator: words } = visit.t;
  return html`<h2>${words.jobs}</h2>
    ${table(
      words.jobs,
      [words.job, words.schedule, words.state, words.lastRun, { number: words.took }, words.nextRun],
      itens.map((job) => [
        code(job.tarefa),
        job.agenda === null ? '–' : code(job.agenda),
        jobState(visit, job),
        moment(visit, job.terminou_em),
        job.duracao_s === null || job.em_andamento ? '–' : `${job.duracao_s.toFixed(1)} s`,
        moment(visit, job.proxima_em),
      ]),
      { empty: words.noJobs },
    )}`;
}

function jobState({ t }: Visit, job: Jobs['itens'][number]): Html {
  const { jobStates: words } = t.operator;
  const { agenda, codigo_saida: exit, resultado } = job;
  if (job.em_andamento) return badge(words.runs, 'pendente');
  if (job.atrasada_s > OVERDUE_S) return badge(words.overdue, 'erro');
  if (exit === null) return badge(agenda === null ? words.off : words.never);
  if (exit === 0) return badge(words.well, 'entregue');
  return html`${badge(words.failed(exit), 'erro')}
    <div class="dim">${resultado?.slice(0, 300)}</div>`;
}

/** Why one delivery waits, in one sentence, with the facts that prove it. */
async function showWait(visit: Visit): Promise<Page> {
  const { c, t, api } = visit;
  const wait = await api.read<OperatorWait>(`/v1/operador/entregas/${visit.id}/espera`);
  const words = t.operator.wait;
  return {
    title: t.delivery.title(`…${wait.entrega_id.slice(-12)}`),
    body: html`<p class="notice">
        ${wait.motivo === 'encerrada' ? '' : html`<strong>${t.delivery.waits}</strong>`}
        ${c.var.language === 'pt' ? wait.explicacao : wait.explicacao_en}
      </p>
      <dl class="facts">
        ${fact('Id', wait.entrega_id, 'id')} ${fact(t.deliveries.status, statusBadge(t, wait.status))}
        ${fact(t.deliveries.webhook, html`<a href="${PATH}/webhooks/${wait.webhook_id}">${wait.webhook_id}</a>`, 'id')}
        ${fact(t.frame.partner, html`<a href="${PATH}/parceiros/${wait.parceiro_id}">${wait.parceiro_id}</a>`, 'id')}
        ${fact(t.deliveries.next, moment(visit, wait.proxima_tentativa_em))}
        ${fact(t.operator.dueFor, `${Math.round(wait.vencida_ha_s)} s`)}
        ${fact(words.failures, html`${wait.falhas} <code>${wait.ultimo_resultado}</code>`)}
        ${fact(words.claim, wait.reivindicacao === null ? '–' : html`<code>${wait.reivindicacao}</code> ${Math.round(wait.reivindicada_ha_s ?? 0)} s`)}
        ${fact(words.inFlight, `${wait.em_andamento} / ${wait.janela}`)}
        ${fact(words.pollers, String(wait.pollers_vivos))}
        ${wait.silenciado_desde && fact(t.operator.mutedSince, moment(visit, wait.silenciado_desde))}
        ${wait.falhando_desde && fact(t.operator.failingSince, moment(visit, wait.falhando_desde))}
      </dl>`,
  };
}
