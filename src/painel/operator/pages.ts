/** What an operator watches: the queue and its pollers live, the webhooks that fail, those that are muted, and the jobs. */
import { html } from 'hono/html';
import type { Jobs, OperatorWait, OperatorWebhooks, Queue } from '../../contract/resources/operator.ts';
import { id as uuid } from '../../contract/values.ts';
import { notFound } from '../../http/api-error.ts';
import type { Html, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { idForm } from '../frame/forms.ts';
import { fact, moment, plainList, shortId, shortUrl, statusBadge, table, tile } from '../frame/parts.ts';
import { pathId } from '../address.ts';
import type { Streams } from '../live.ts';
import { OPERATE } from './acts.ts';
import { addOperatorPartner } from './partner.ts';
import { addOperatorWorkers } from './workers.ts';
import { addOperatorWebhook, linkTo } from './webhook.ts';

const EVERY_MS = 2_000;
/** A job is overdue after that: each api looks every 15 s. */
const OVERDUE_S = 60;
const FAILING = { estado: 'com_falhas', limite: '50' };

export function addOperatorPages(guard: Guard, streams: Streams): void {
  guard.show('/painel/operacao', OPERATE, async (visit) => {
    const { c, t, api } = visit;
    const [parts, muted, jobs] = await Promise.all([
      readParts(visit),
      api.read<OperatorWebhooks>('/v1/operador/webhooks', {
        estado: 'silenciado',
        cursor: c.req.query('depois') ?? '',
      }),
      api.read<Jobs>('/v1/operador/tarefas'),
    ]);
    return answerPage(c, {
      title: t.frame.operation,
      body: html`${idForm('/painel/operacao/abrir', t.operator.webhookId, '', t.operator.find)}
        <div data-live="/painel/operacao/ao-vivo">
          ${Object.entries(parts).map(([name, part]) => html`<div data-part="${name}">${part}</div>`)}
        </div>
        ${mutedPart(visit, muted)} ${jobsPart(visit, jobs)}
        <p><a href="/painel/operacao/apagamentos">${t.operator.erasures}</a></p>`,
    });
  });
  guard.show('/painel/operacao/ao-vivo', OPERATE, (visit) =>
    streams.open(visit, EVERY_MS, async () => {
      const parts = Object.entries(await readParts(visit));
      return Promise.all(parts.map(async ([event, part]) => ({ event, data: String(await part) })));
    }),
  );
  guard.show('/painel/operacao/abrir', OPERATE, async ({ c, api }) => {
    const id = uuid.safeParse(c.req.query('id')?.trim().toLowerCase());
    if (!id.success) throw notFound();
    const kinds = { parceiros: '', entregas: '/espera' };
    for (const [kind, rest] of Object.entries(kinds)) {
      const { ok } = await api.ask(`/v1/operador/${kind}/${id.data}${rest}`);
      if (ok) return c.redirect(`/painel/operacao/${kind}/${id.data}`, 303);
    }
    return c.redirect(`/painel/operacao/webhooks/${id.data}`, 303);
  });
  guard.show('/painel/operacao/entregas/:id', OPERATE, showWait);
  addOperatorWebhook(guard);
  addOperatorPartner(guard);
  addOperatorWorkers(guard, streams);
}

/** What is live, by the name of its place on the page. */
async function readParts(visit: Visit) {
  const [queue, failing] = await Promise.all([
    visit.api.read<Queue>('/v1/operador/fila'),
    visit.api.read<OperatorWebhooks>('/v1/operador/webhooks', FAILING),
  ]);
  return { fila: queuePart(visit, queue), pollers: pollersPart(visit, queue), falhas: failingPart(visit, failing) };
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
    ${proximo_cursor === null ? '' : html`<p><a href="/painel/operacao?depois=${proximo_cursor}">${t.operator.more}</a></p>`}`;
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
    ${webhooks.length === 0 ? html`<p>${t.operator.emptyQueue}</p>` : laneTable(visit, webhooks)}`;
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
      html`<a class="wrap" href="/painel/operacao/webhooks/${lane.webhook_id}">${shortUrl(lane.url)}</a>
        <div class="dim">${shortId(lane.webhook_id)}</div>`,
      lane.parceiro,
      html`<span class="badge${lane.estado === 'saturada' ? ' badge-erro' : ''}">${t.operator.states[lane.estado]}</span
        >${lane.falha_nossa === null ? '' : html`<div class="wrap">${t.operator.ourFault}: ${lane.falha_nossa}</div>`}`,
      lane.pendentes,
      lane.em_andamento,
      `${Math.round(lane.vencida_ha_s)} s`,
    ]),
  );
}

function pollersPart(visit: Visit, { pollers, certificados }: Queue): Html {
  const { t } = visit;
  return html`${
      certificados.length === 0
        ? ''
        : html`<h2>${t.operator.certificates}</h2>
            ${plainList(certificados.map(({ arquivo, valido_ate }) => html`<code>${arquivo}</code> ${t.operator.goodUntil} ${moment(visit, valido_ate)}`))}`
    }
    <h2>${t.operator.pollers}</h2>
    <p class="dim">${t.operator.pollersHint}</p>
    ${plainList(
      pollers.map(
        ({ poller, tentativas_ultimo_minuto: attempts, visto_ha_s: seen }) =>
          html`<code>${poller}</code> ${t.operator.attempts(attempts, Math.round(seen))}`,
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
    ${
      itens.length === 0
        ? html`<p>${words.noJobs}</p>`
        : table(
            words.jobs,
            [words.job, words.schedule, words.state, words.lastRun, { number: words.took }, words.nextRun],
            itens.map((job) => jobRow(visit, job)),
          )
    }`;
}

function jobRow(visit: Visit, job: Jobs['itens'][number]) {
  return [
    html`<code>${job.tarefa}</code>`,
    job.agenda === null ? '–' : html`<code>${job.agenda}</code>`,
    jobState(visit, job),
    moment(visit, job.terminou_em),
    job.duracao_s === null || job.em_andamento ? '–' : `${job.duracao_s.toFixed(1)} s`,
    moment(visit, job.proxima_em),
  ];
}

function jobState(
  { t }: Visit,
  { agenda, em_andamento, codigo_saida, resultado, atrasada_s }: Jobs['itens'][number],
): Html {
  const { jobStates: words } = t.operator;
  if (em_andamento) return html`<span class="badge badge-pendente">${words.runs}</span>`;
  if (atrasada_s > OVERDUE_S) return html`<span class="badge badge-erro">${words.overdue}</span>`;
  if (codigo_saida !== null && codigo_saida !== 0) {
    return html`<span class="badge badge-erro">${words.failed(codigo_saida)}</span>
      <div class="dim">${resultado?.slice(0, 300)}</div>`;
  }
  if (codigo_saida === 0) return html`<span class="badge badge-entregue">${words.well}</span>`;
  return html`<span class="badge">${agenda === null ? words.off : words.never}</span>`;
}

/** Why one delivery waits, in one sentence, with the facts that prove it. */
async function showWait(visit: Visit): Promise<Response> {
  const { c, t, api } = visit;
  const wait = await api.read<OperatorWait>(`/v1/operador/entregas/${pathId(c)}/espera`);
  const words = t.operator.wait;
  return answerPage(c, {
    title: t.delivery.title(`…${wait.entrega_id.slice(-12)}`),
    body: html`<p class="notice">
        ${wait.motivo === 'encerrada' ? '' : html`<strong>${t.delivery.waits}</strong>`}
        ${c.var.language === 'pt' ? wait.explicacao : wait.explicacao_en}
      </p>
      <dl class="facts">
        ${fact('Id', wait.entrega_id, 'id')} ${fact(t.deliveries.status, statusBadge(t, wait.status))}
        ${fact(t.deliveries.webhook, html`<a href="/painel/operacao/webhooks/${wait.webhook_id}">${wait.webhook_id}</a>`, 'id')}
        ${fact(t.frame.partner, html`<a href="/painel/operacao/parceiros/${wait.parceiro_id}">${wait.parceiro_id}</a>`, 'id')}
        ${fact(t.deliveries.next, moment(visit, wait.proxima_tentativa_em))}
        ${fact(t.operator.dueFor, `${Math.round(wait.vencida_ha_s)} s`)}
        ${fact(words.failures, html`${wait.falhas} <code>${wait.ultimo_resultado}</code>`)}
        ${fact(words.claim, wait.reivindicacao === null ? '–' : html`<code>${wait.reivindicacao}</code> ${Math.round(wait.reivindicada_ha_s ?? 0)} s`)}
        ${fact(words.inFlight, `${wait.em_andamento} / ${wait.janela}`)}
        ${fact(words.pollers, String(wait.pollers_vivos))}
        ${wait.silenciado_desde && fact(t.operator.mutedSince, moment(visit, wait.silenciado_desde))}
        ${wait.falhando_desde && fact(t.operator.failingSince, moment(visit, wait.falhando_desde))}
      </dl>`,
  });
}
