/** One loan as it was right after any of its events. */
import { html } from 'hono/html';
import type { LoanResource } from '../../contract/resources/loan-resource.ts';
import { type DeliveryOfEvent, readDeliveriesOfLoan } from '../../delivery/partner/find.ts';
import { requirePartner } from '../../http/auth/auth.ts';
import { readEventIds, readStream, type RecordedEvent } from '../../log/read.ts';
import type { Html, PainelDeps, Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { copyable, fact, moment, shortId, statusBadge } from '../frame/parts.ts';
import { diagram } from './diagram.ts';
import { type Step, stepsOf } from './path.ts';

export async function showLoan(visit: Visit, { pool }: PainelDeps, id: string): Promise<Response> {
  const { c, t, api, session } = visit;
  // First whether the partner has it: a stream is read by its id alone.
  const loan = await api.read<LoanResource>(`/v1/emprestimos/${id}`);
  const asked = Number(c.req.query('versao') ?? loan.versao);
  const version = Number.isSafeInteger(asked) && asked >= 1 && asked <= loan.versao ? asked : loan.versao;
  const [then, events, ids, deliveries] = await Promise.all([
    version === loan.versao ? loan : api.read<LoanResource>(`/v1/emprestimos/${id}`, { versao: String(version) }),
    pool.run((sql) => readStream(sql, id, loan.versao)),
    pool.run((sql) => readEventIds(sql, id)),
    readDeliveriesOfLoan(pool, requirePartner(session.identity), id),
  ]);
  const byEvent = Map.groupBy(deliveries, ({ eventId }) => eventId);
  const steps = stepsOf(events);
  return answerPage(c, {
    title: t.loans.one(loan.numero),
    body: html`${slider(visit, loan, version)}
      <section id="estado" aria-live="polite">
        ${diagram(t, steps.slice(0, version))} ${facts(visit, then)}
        <h2>${t.loans.events}</h2>
        ${eventList(visit, events, { version, ids, byEvent, steps })}
        <h2>${t.loans.asRead(version)}</h2>
        ${copyable(t, 'resource', t.loans.asRead(version), JSON.stringify(then, null, 2))}
      </section>`,
  });
}

/** Every move of the slider draws the state anew; without a script the button does. */
function slider({ t }: Visit, { id, versao }: LoanResource, version: number): Html {
  const path = `/painel/emprestimos/${id}`;
  return html`<form
    class="inline"
    method="get"
    action="${path}"
    hx-get="${path}"
    hx-trigger="input from:#versao delay:80ms, submit"
    hx-target="#estado"
    hx-select="#estado"
    hx-swap="outerHTML"
    hx-push-url="true"
  >
    <label for="versao">${t.loans.slider}</label>
    <input
      id="versao"
      name="versao"
      type="range"
      min="1"
      max="${versao}"
      value="${version}"
      data-shown-in="versao-now"
    />
    <output id="versao-now" for="versao">${version}</output>
    <button class="small">${t.frame.apply}</button>
  </form>`;
}

function facts(visit: Visit, loan: LoanResource): Html {
  const { t } = visit;
  return html`<dl class="facts">
    ${fact('Id', loan.id, 'id')} ${fact(t.loans.number, loan.numero)}
    ${fact(t.loans.status, html`<span class="badge">${t.loanStatus[loan.status]}</span>`)}
    ${fact(t.loans.nextAction, loan.proxima_acao === null ? '–' : t.nextAction[loan.proxima_acao])}
    ${fact(t.loans.documentsDimension, t.documents[loan.entrega_docs_registry?.situacao ?? 'nenhuma'])}
    ${fact(t.loans.at, moment(visit, loan.atualizado_em))}
    ${fact(t.frame.deliveries, html`<a href="/painel/entregas?emprestimo_id=${loan.id}">${t.loans.allDeliveries}</a>`)}
  </dl>`;
}

interface Told {
  readonly version: number;
  readonly ids: ReadonlyMap<number, string>;
  readonly byEvent: ReadonlyMap<string, readonly DeliveryOfEvent[]>;
  readonly steps: readonly Step[];
}

function eventList(visit: Visit, events: readonly RecordedEvent[], { version, ids, byEvent, steps }: Told): Html {
  const { t } = visit;
  return html`<ol class="events">
    ${events.map((event, index) => {
      const deliveries = byEvent.get(ids.get(event.version) ?? '') ?? [];
      const status = steps[index]?.status;
      return html`<li class="${event.version > version ? 'later' : ''}">
        <span class="number">v${event.version}</span> <code>${event.type}</code> ${moment(visit, event.occurredAt)}
        ${status ? html`<span class="badge">${t.loanStatus[status]}</span>` : ''}
        ${
          deliveries.length === 0
            ? html`<span class="dim">${t.loans.noDelivery}</span>`
            : html`<ul class="plain">
                ${deliveries.map(
                  (one) =>
                    html`<li>
                      <a href="/painel/entregas/${one.id}">${shortId(one.id)}</a> ${statusBadge(t, one.status)}
                    </li>`,
                )}
              </ul>`
        }
      </li>`;
    })}
  </ol>`;
}
