/** Homologação on the page: begun on the webhook's own page, shown check by check while it runs. */
import { html } from 'hono/html';
import type { Conformance, ConformanceList, ConformanceState } from '../../contract/conformance.ts';
import { pathId } from '../address.ts';
import type { Html, Visit } from '../env.ts';
import { prose } from '../docs/prose.ts';
import { confirmed } from '../frame/forms.ts';
import { answerPage } from '../frame/page.ts';
import { fact, moment, table } from '../frame/parts.ts';

const OF_STATE: Readonly<Record<ConformanceState, string>> = {
  em_andamento: 'pendente',
  aprovada: 'entregue',
  reprovada: 'erro',
  interrompida: 'suspensa',
};
const OF_VERDICT = { passou: 'entregue', falhou: 'erro', nao_se_aplica: 'suspensa' } as const;
/** What failed first. */
const ORDER = ['falhou', 'nao_se_aplica', 'passou'];

export const runPath = (webhookId: string, id: string) => `/painel/webhooks/${webhookId}/homologacao/${id}`;

export function conformancePart(visit: Visit, id: string, { itens }: ConformanceList, mayWrite: boolean): Html {
  const { t } = visit;
  const words = t.conformance;
  const rows = itens.map((run) => [
    html`<a href="${runPath(id, run.homologacao_id)}">${moment(visit, run.inicio)}</a>`,
    badge(OF_STATE[run.estado], words.states[run.estado]),
    moment(visit, run.fim),
    run.pedida_por,
  ]);
  return html`<h2 id="homologacao">${words.title}</h2>
    <p class="dim">${words.intro}</p>
    ${
      itens.length === 0
        ? html`<p>${words.none}</p>`
        : table(words.title, [words.started, words.state, words.ended, t.operator.author], rows)
    }
    ${
      mayWrite
        ? html`<div class="actions">
            ${confirmed(visit, `/painel/webhooks/${id}/homologacao`, { label: words.begin, question: words.question })}
          </div>`
        : ''
    }`;
}

export async function showConformance(visit: Visit): Promise<Response> {
  const { c, t, api } = visit;
  const [id, hid] = [pathId(c), c.req.param('hid') ?? ''];
  const path = runPath(id, hid);
  const run = await api.read<Conformance>(`/v1/webhooks/${id}/homologacao/${encodeURIComponent(hid)}`, {
    idioma: c.var.language,
  });
  const { verificacoes: checks, estado, relatorio_sha256: sha256 } = run;
  const words = t.conformance;
  const count = (verdict: string) => checks.filter(({ resultado }) => resultado === verdict).length;
  const rows = checks
    .toSorted((one, other) => ORDER.indexOf(one.resultado) - ORDER.indexOf(other.resultado))
    .map(({ codigo, titulo, resultado, detalhe }) => [
      html`${titulo}<br /><code class="dim">${codigo}</code>`,
      badge(OF_VERDICT[resultado], words.verdicts[resultado]),
      prose(detalhe),
    ]);
  const isUnderWay = estado === 'em_andamento';
  return answerPage(c, {
    title: words.title,
    body: html`<p><a href="/painel/webhooks/${id}#homologacao">${t.deliveries.webhook}</a></p>
      <div
        id="andamento"
        ${isUnderWay ? html`hx-get="${path}" hx-trigger="every 2s" hx-select="#andamento" hx-swap="outerHTML"` : ''}
      >
        <dl class="facts" aria-live="polite">
          ${fact(words.state, badge(OF_STATE[estado], words.states[estado]))}
          ${fact(words.started, moment(visit, run.inicio))} ${fact(words.ended, moment(visit, run.fim))}
          ${fact(words.verdict, words.counts(count('passou'), count('falhou'), count('nao_se_aplica')))}
        </dl>
        ${
          sha256 === null
            ? ''
            : html`<p><a class="button primary" href="${path}/relatorio" download>${words.report}</a></p>
                <p class="dim">${words.reportHint} <code class="wrap">${sha256}</code></p>`
        }
        ${table(words.title, [words.check, words.verdict, words.detail], rows, 'fields')}
      </div>`,
  });
}

const badge = (tone: string, text: string) => html`<span class="badge badge-${tone}">${text}</span>`;
