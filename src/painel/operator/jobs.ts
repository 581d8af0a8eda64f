/** What the service does by itself: each job with its schedule, its last run and what came of it. */
import { html } from 'hono/html';
import type { Jobs } from '../../contract/resources/operator.ts';
import type { Html, Visit } from '../env.ts';
import { moment, table } from '../frame/parts.ts';

/** Each api looks every 15 s. */
const OVERDUE_S = 60;

export function jobsPart(visit: Visit, { itens }: Jobs): Html {
  const { operator: words } = visit.t;
  return html`<h2>${words.jobs}</h2>
    ${
      itens.length === 0
        ? html`<p>${words.noJobs}</p>`
        : table(
            words.jobs,
            [words.job, words.schedule, words.state, words.lastRun, { number: words.took }, words.nextRun],
            itens.map((job) => row(visit, job)),
          )
    }`;
}

function row(visit: Visit, job: Jobs['itens'][number]) {
  return [
    html`<code>${job.tarefa}</code>`,
    job.agenda === null ? '–' : html`<code>${job.agenda}</code>`,
    stateOf(visit, job),
    moment(visit, job.terminou_em),
    job.duracao_s === null || job.em_andamento ? '–' : `${job.duracao_s.toFixed(1)} s`,
    moment(visit, job.proxima_em),
  ];
}

function stateOf(
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
