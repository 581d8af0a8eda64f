/** Homologação on the page: begun on the webhook's own page, shown check by check while it runs. */
import { html } from 'hono/html';
import type { Conformance, ConformanceList } from '../../contract/conformance.ts';
import type { Html, Visit } from '../env.ts';
import { confirmed } from '../frame/forms.ts';
import type { Page } from '../frame/page.ts';
import { badge, fact, live, moment, prose, table } from '../frame/parts.ts';

const OF_STATE = {
  em_andamento: 'pendente',
  aprovada: 'entregue',
  reprovada: 'erro',
  interrompida: 'suspensa',
} as const;
const OF_VERDICT = { passou: 'entregue', falhou: 'erro', nao_se_aplica: 'suspensa' } as const;
/** What failed first. */
const ORDER = ['falhou', 'nao_se_aplica', 'passou'];

export const runPath = (webhookId: string, id: string) => `/painel/webhooks/${webhookId}/homologacao/${id}`;

export function conformancePart(visit: Visit, { itens }: ConformanceList): Html {
  const { t, id, mayWrite } = visit;
  const words = t.conformance;
  const rows = itens.map((run) => [
    html`<a href="${runPath(id, run.homologacao_id)}">${moment(visit, run.inicio)}</a>`,
    badge(words.states[run.estado], OF_STATE[run.estado]),
    moment(visit, run.fim),
    run.pedida_por,
  ]);
  const begin = () => confirmed(visit, `/painel/webhooks/${id}/homologacao`, words.begin, words.question);
  return html`<h2 id="homologacao">${words.title}</h2>
    <p class="dim">${words.intro}</p>
    ${table(words.title, [words.started, words.state, words.ended, t.operator.author], rows, { empty: words.none })}
    ${mayWrite && html`<div class="actions">${begin()}</div>`}`;
}

export async function showConformance(visit: Visit): Promise<Page> {
  const { c, t, api, id } = visit;
  const hid = c.req.param('hid') ?? '';
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
      badge(words.verdicts[resultado], OF_VERDICT[resultado]),
      prose(detalhe),
    ]);
  const shown = html`<dl class="facts" aria-live="polite">
      ${fact(words.state, badge(words.states[estado], OF_STATE[estado]))}
      ${fact(words.started, moment(visit, run.inicio))} ${fact(words.ended, moment(visit, run.fim))}
      ${fact(words.verdict, words.counts(count('passou'), count('falhou'), count('nao_se_aplica')))}
    </dl>
    ${
      sha256 === null
        ? ''
        : html`<p><a class="button primary" href="${path}/relatorio" download>${words.report}</a></p>
            <p class="dim">${words.reportHint} <code class="wrap">${sha256}</code></p>`
    }
    ${table(words.title, [words.check, words.verdict, words.detail], rows, { wraps: true })}`;
  return {
    title: words.title,
    body: html`<p><a href="/painel/webhooks/${id}#homologacao">${t.deliveries.webhook}</a></p>
      ${estado === 'em_andamento' ? live('andamento', path, 2, shown) : html`<div id="andamento">${shown}</div>`}`,
  };
}
