/** The sandbox's page, and the two parts of it that are live. */
import { html } from 'hono/html';
import { dayOf, monthsBefore } from '../../contract/calendar.ts';
import type { LoanHistory, LoanResource, RecentLoan } from '../../contract/resources/loan-resource.ts';
import { requirePartner } from '../../http/auth/auth.ts';
import type { Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { choices, formToken, input, labelled, select } from '../frame/forms.ts';
import { copyable, doneNotice, moment, shortId } from '../frame/parts.ts';
import { refusalList } from '../frame/refusals.ts';
import { diagram } from '../loans/diagram.ts';
import { readRecent, wayTo } from '../loans/pages.ts';
import { ACCOUNT_ACTS, type AccountAct, LOAN_ACTS, type LoanAct, OTHER_ACTS, type OtherAct } from './acts.ts';
import { type Arrived, BEHAVIOURS, type Behaviour, type Inbox } from './inbox.ts';

const CHOICES = 20;
const LIVE = '/painel/sandbox/ao-vivo?emprestimo=';

interface Shown {
  readonly refusal?: Refusal;
  readonly loanId?: string;
}

export async function showSandbox(visit: Visit, inbox: Inbox, shown: Shown): Promise<Response> {
  const { c, t, session } = visit;
  const partnerId = requirePartner(session.identity);
  const loans = session.identity.scopes.has('emprestimos:read') ? await readRecent(visit, CHOICES) : [];
  const asked = shown.loanId ?? c.req.query('emprestimo') ?? '';
  const loanId = loans.find(({ id }) => id === asked)?.id ?? loans[0]?.id ?? '';
  c.header('Cache-Control', 'no-store');
  return answerPage(c, {
    title: t.frame.sandbox,
    status: shown.refusal?.status ?? 200,
    body: html`${shown.refusal === undefined ? '' : refusalList(c, shown.refusal.error)}
      ${doneNotice(visit, { ...t.sandbox.acts, ...t.sandbox.done })}
      <div data-live="${LIVE}${loanId}">
        ${walkForm(visit)}
        <div data-part="emprestimo">${loanPart(visit, loanId)}</div>
        ${actForm(visit, loans, loanId)} ${inboxForms(visit, inbox.behaviour(partnerId), loanId)}
        <div data-part="caixa">${inboxItems(visit, inbox.arrived(partnerId))}</div>
      </div>
      <details class="card">
        <summary>${t.sandbox.token}</summary>
        <p class="dim">${t.sandbox.tokenHint}</p>
        ${copyable(t, 'token', t.sandbox.token, session.token)}
      </details>`,
  });
}

function walkForm(visit: Visit): Html {
  const { t } = visit;
  return html`<form class="inline" method="post" action="/painel/sandbox/passeio">
    ${formToken(visit)}<button class="primary">${t.sandbox.walk}</button> <span class="dim">${t.sandbox.walkHint}</span>
  </form>`;
}

/** The chosen loan's picture; empty while there is none. */
export async function loanPart({ api, t }: Visit, loanId: string): Promise<Awaited<Html> | ''> {
  if (loanId === '') return '';
  const loan = await api.ask<LoanResource>(`/v1/emprestimos/${loanId}`);
  if (!loan.ok) return '';
  const answer = await api.ask<LoanHistory>(`/v1/emprestimos/${loanId}/historico`, wayTo(loan.body.versao));
  const now = answer.ok ? answer.body.itens.at(-1) : undefined;
  if (!answer.ok || now === undefined) return '';
  return html`<p>
      <a href="/painel/emprestimos/${loanId}">${t.loans.one(answer.body.numero)}</a>
      ${now.status === null ? '' : html`<span class="badge">${t.loanStatus[now.status]}</span>`} v${now.versao}
    </p>
    ${diagram(t, answer.body.itens)}`;
}

function actForm(visit: Visit, loans: readonly RecentLoan[], loanId: string): Html {
  const { t } = visit;
  const buttons = (acts: readonly (LoanAct | AccountAct | OtherAct)[]) =>
    acts.map((act) => html`<button name="acao" value="${act}">${t.sandbox.acts[act]}</button> `);
  const named = loans.map(({ id, numero, status }) => [id, `${numero} (${t.loanStatus[status]})`] as const);
  const loanActs = Object.keys(LOAN_ACTS) as LoanAct[];
  const lastMonth = monthsBefore(dayOf(new Date()), 1).slice(0, 7);
  const others = (Object.keys(OTHER_ACTS) as OtherAct[]).filter((act) => act !== 'tempo' && act !== 'repasse');
  return html`<form method="post" action="/painel/sandbox/acao">
    ${formToken(visit)}
    <fieldset>
      <legend>${t.sandbox.onLoan}</legend>
      <p>
        ${select(t.deliveries.loan, 'emprestimo', choices(loanId, named), html`autocomplete="off" data-follows="${LIVE}"`)}
      </p>
      <p class="actions">${loans.length === 0 ? t.sandbox.noLoan : buttons(loanActs)}</p>
    </fieldset>
    <fieldset>
      <legend>${t.sandbox.account}</legend>
      <p class="actions">${buttons(Object.keys(ACCOUNT_ACTS) as AccountAct[])}</p>
    </fieldset>
    <fieldset>
      <legend>${t.sandbox.others}</legend>
      <p class="actions">${buttons(others)}</p>
      <p class="actions">
        ${input(t.sandbox.month, 'competencia', lastMonth, html`type="month"`)} ${buttons(['repasse'])}
      </p>
      <p class="actions">
        ${input(t.sandbox.seconds, 'segundos', 60, html`type="number" min="1" max="31622400"`)} ${buttons(['tempo'])}
      </p>
      <p class="dim">${t.sandbox.clockHint}</p>
    </fieldset>
  </form>`;
}

function inboxForms(visit: Visit, behaviour: Behaviour, loanId: string): Html {
  const { t } = visit;
  return html`<h2>${t.sandbox.inbox}</h2>
    <p class="dim">${t.sandbox.inboxHint}</p>
    <div class="actions">
      <form method="post" action="/painel/sandbox/caixa">
        ${formToken(visit)}<button>${t.sandbox.openInbox}</button>
      </form>
      <form class="inline" method="post" action="/painel/sandbox/comportamento">
        ${formToken(visit)} <input type="hidden" name="emprestimo" value="${loanId}" />
        ${select(t.sandbox.behaviour, 'comportamento', choices(behaviour, labelled(BEHAVIOURS, t.sandbox.behaviours)))}
        <button>${t.frame.apply}</button>
      </form>
    </div>`;
}

export function inboxItems(visit: Visit, arrived: readonly Arrived[]): Html {
  const { t } = visit;
  if (arrived.length === 0) return html`<p>${t.sandbox.nothingYet}</p>`;
  return html`<ol class="events">
    ${arrived.map(
      (one) =>
        html`<li>
          ${moment(visit, one.at)} <code>${one.event}</code>
          <a href="/painel/entregas/${one.deliveryId}">${shortId(one.deliveryId)}</a>
          <span class="badge badge-${one.isSigned ? 'entregue' : 'erro'}"
            >${one.isSigned ? t.sandbox.signed : t.sandbox.unsigned}</span
          >
          <span class="badge">${one.status}</span>
          <details>
            <summary>${t.delivery.body}</summary>
            <pre tabindex="0">${one.body}</pre>
          </details>
        </li>`,
    )}
  </ol>`;
}
