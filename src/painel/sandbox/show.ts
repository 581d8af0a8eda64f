/** The sandbox's page, and the two parts of it that are live. */
import { html } from 'hono/html';
import { dayOf, monthsBefore } from '../../contract/calendar.ts';
import type { LoanHistory, LoanResource, RecentLoan } from '../../contract/resources/loan-resource.ts';
import { requirePartner } from '../../http/auth/auth.ts';
import type { Refusal } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { hidden, input, labelled, postForm, select } from '../frame/forms.ts';
import { isAllowed, LOANS } from '../frame/nav.ts';
import type { Page } from '../frame/page.ts';
import { badge, code, copyable, dim, live, moment, shortId } from '../frame/parts.ts';
import { diagram } from '../loans/diagram.ts';
import { readRecent, wayTo } from '../loans/pages.ts';
import { ACCOUNT_ACTS, type AccountAct, LOAN_ACTS, type LoanAct, OTHER_ACTS, type OtherAct } from './acts.ts';
import { type Arrived, BEHAVIOURS, type Behaviour, type Inbox } from './inbox.ts';

const PATH = '/painel/sandbox';
const CHOICES = 20;

export async function showSandbox(visit: Visit, inbox: Inbox, asked: string, refusal?: Refusal): Promise<Page> {
  const { c, t, session } = visit;
  const partnerId = requirePartner(session.identity);
  const loans = isAllowed(session.identity, LOANS) ? await readRecent(visit, CHOICES) : [];
  const loanId = loans.find(({ id }) => id === asked)?.id ?? loans[0]?.id ?? '';
  const walk = html`<button class="primary">${t.sandbox.walk}</button> ${dim(t.sandbox.walkHint)}`;
  const shown = await loanPart(visit, loanId);
  c.header('Cache-Control', 'no-store');
  return {
    title: t.frame.sandbox,
    refusal,
    done: { ...t.sandbox.acts, ...t.sandbox.done },
    body: html`${postForm(visit, `${PATH}/passeio`, walk, 'inline')}
      ${live('emprestimo', `${PATH}?emprestimo=${loanId}`, 1, shown, 'caixa')} ${loanChoice(visit, loans, loanId)}
      ${actForm(visit, loanId)} ${inboxForms(visit, inbox.behaviour(partnerId), loanId)}
      <div id="caixa">${inboxItems(visit, inbox.arrived(partnerId))}</div>
      <details class="card">
        <summary>${t.sandbox.token}</summary>
        <p class="dim">${t.sandbox.tokenHint}</p>
        ${copyable(t, 'token', t.sandbox.token, session.token)}
      </details>`,
  };
}

/** The chosen loan's picture; empty while there is none. */
async function loanPart({ api, t }: Visit, loanId: string): Promise<Html> {
  const loan = loanId === '' ? null : await api.ask<LoanResource>(`/v1/emprestimos/${loanId}`);
  if (!loan?.ok) return html``;
  const answer = await api.ask<LoanHistory>(`/v1/emprestimos/${loanId}/historico`, wayTo(loan.body.versao));
  const now = answer.ok ? answer.body.itens.at(-1) : undefined;
  if (!answer.ok || now === undefined) return html``;
  return html`<p>
      <a href="/painel/emprestimos/${loanId}">${t.loans.one(answer.body.numero)}</a>
      ${now.status === null ? '' : badge(t.loanStatus[now.status])} v${now.versao}
    </p>
    ${diagram(t, answer.body.itens)}`;
}

/** Which loan the acts are played on. */
function loanChoice({ t }: Visit, loans: readonly RecentLoan[], loanId: string): Html {
  const named = loans.map(({ id, numero, status }) => [id, `${numero} (${t.loanStatus[status]})`] as const);
  return html`<form class="inline" method="get" action="${PATH}">
    ${select(t.deliveries.loan, 'emprestimo', loanId, named, html`autocomplete="off" data-submits`)}
    <noscript><button>${t.frame.apply}</button></noscript>
  </form>`;
}

function actForm(visit: Visit, loanId: string): Html {
  const { t } = visit;
  const buttons = (acts: readonly (LoanAct | AccountAct | OtherAct)[]) =>
    acts.map((act) => html`<button name="acao" value="${act}">${t.sandbox.acts[act]}</button> `);
  const lastMonth = monthsBefore(dayOf(new Date()), 1).slice(0, 7);
  const others = (Object.keys(OTHER_ACTS) as OtherAct[]).filter((act) => act !== 'tempo' && act !== 'repasse');
  const part = (title: string, body: Html) =>
    html`<fieldset>
      <legend>${title}</legend>
      ${body}
    </fieldset>`;
  const actions = (body: unknown) => html`<p class="actions">${body}</p>`;
  return postForm(
    visit,
    `${PATH}/acao`,
    html`${hidden('emprestimo', loanId)}
    ${part(t.sandbox.onLoan, actions(loanId === '' ? t.sandbox.noLoan : buttons(Object.keys(LOAN_ACTS) as LoanAct[])))}
    ${part(t.sandbox.account, actions(buttons(Object.keys(ACCOUNT_ACTS) as AccountAct[])))}
    ${part(
      t.sandbox.others,
      html`${actions(buttons(others))}
        <p class="actions">
          ${input(t.sandbox.month, 'competencia', lastMonth, html`type="month"`)} ${buttons(['repasse'])}
        </p>
        <p class="actions">
          ${input(t.sandbox.seconds, 'segundos', 60, html`type="number" min="1" max="31622400"`)} ${buttons(['tempo'])}
        </p>
        <p class="dim">${t.sandbox.clockHint}</p>`,
    )}`,
  );
}

function inboxForms(visit: Visit, behaviour: Behaviour, loanId: string): Html {
  const { t } = visit;
  const chosen = html`${hidden('emprestimo', loanId)}
    ${select(t.sandbox.behaviour, 'comportamento', behaviour, labelled(BEHAVIOURS, t.sandbox.behaviours))}
    <button>${t.frame.apply}</button>`;
  return html`<h2>${t.sandbox.inbox}</h2>
    <p class="dim">${t.sandbox.inboxHint}</p>
    <div class="actions">
      ${postForm(visit, `${PATH}/caixa`, html`<button>${t.sandbox.openInbox}</button>`)}
      ${postForm(visit, `${PATH}/comportamento`, chosen, 'inline')}
    </div>`;
}

function inboxItems(visit: Visit, arrived: readonly Arrived[]): Html {
  const { t } = visit;
  if (arrived.length === 0) return html`<p>${t.sandbox.nothingYet}</p>`;
  return html`<ol class="events">
    ${arrived.map(
      (one) =>
        html`<li>
          ${moment(visit, one.at)} ${code(one.event)}
          <a href="/painel/entregas/${one.deliveryId}">${shortId(one.deliveryId)}</a>
          ${one.isSigned ? badge(t.sandbox.signed, 'entregue') : badge(t.sandbox.unsigned, 'erro')} ${badge(one.status)}
          <details>
            <summary>${t.delivery.body}</summary>
            <pre tabindex="0">${one.body}</pre>
          </details>
        </li>`,
    )}
  </ol>`;
}
