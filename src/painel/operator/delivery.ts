/** Why one delivery waits, in one sentence, with the facts that prove it. */
import { html } from 'hono/html';
import type { OperatorWait } from '../../contract/resources/operator.ts';
import type { Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { fact, moment, statusBadge } from '../frame/parts.ts';
import { pathId } from '../address.ts';

export async function showWait(visit: Visit): Promise<Response> {
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
