/** The balance as a heat map: a row for each partner, a column for each day, darker the more of a day did not arrive. */
import { html } from 'hono/html';
import { type BalanceLine, type BalanceResource, MAX_BALANCE_DAYS } from '../../contract/resources/audit-resource.ts';
import type { AuditVerdicts } from '../../contract/resources/audit-verdicts.ts';
import { addDays, dayOf } from '../../contract/calendar.ts';
import type { Html, Visit } from '../env.ts';
import { input } from '../frame/forms.ts';
import { type Page, refusalList } from '../frame/page.ts';
import { code, moment, notice, plainList, shortId } from '../frame/parts.ts';

/** Days that are shown unless others are asked for, and partners at most. */
const DAYS = 14;
const PARTNERS = 100;
const LISTED = 50;

export async function showBalance(visit: Visit): Promise<Page> {
  const { c, t, api } = visit;
  const today = dayOf(new Date());
  const { ate = today, de = addDays(today, 1 - DAYS) } = c.req.query();
  const [answer, { balanco: nightly }] = await Promise.all([
    api.search<BalanceResource>('/v1/auditoria/balanco', { de, ate }),
    api.read<AuditVerdicts>('/v1/auditoria/vereditos'),
  ]);
  return {
    title: t.auditor.balance,
    status: answer.status,
    body: html`${lastVerdict(visit, nightly)}
      <form class="inline" method="get" action="/painel/auditoria/balanco">
        ${input(t.deliveries.from, 'de', de, html`type="date" required`)}
        ${input(t.deliveries.until, 'ate', ate, html`type="date" required`)}
        <button>${t.frame.apply}</button> <span class="dim">${t.auditor.atMost(MAX_BALANCE_DAYS)}</span>
      </form>
      ${answer.ok ? verdict(visit, answer.body) : refusalList(c, answer.error)}`,
  };
}

/** What the nightly balance said last, or which one is still open. */
function lastVerdict(visit: Visit, found: AuditVerdicts['balanco']): Html {
  const { auditor } = visit.t;
  if (found === null) return html`<p>${auditor.neverBalanced}</p>`;
  const { fecha, de, ate, em, total_diferencas: differences } = found;
  const said = fecha ? auditor.nightlyCloses(de, ate) : auditor.nightlyOpen(de, ate, differences);
  return html`<p>${auditor.nightlyBalance} ${moment(visit, em)}: ${fecha ? said : html`<strong>${said}</strong>`}</p>`;
}

function verdict(visit: Visit, balance: BalanceResource): Html {
  const { t } = visit;
  const { total, total_diferencas: differences } = balance;
  return html`${notice(balance.fecha ? 'done' : 'failed', balance.fecha ? t.auditor.closes : t.auditor.doesNotClose(differences))}
    <p>
      ${t.auditor.sums(total.eventos, total.importados, total.esperadas, total.entregue)} ${t.status.pendente}
      ${total.pendente}, ${t.status.erro} ${total.erro}, ${t.status.suspensa} ${total.suspensa}
    </p>
    ${heat(visit, balance)}
    ${
      balance.diferencas.length === 0
        ? ''
        : html`<h2>${t.auditor.differences}</h2>
            ${plainList(
              balance.diferencas
                .slice(0, LISTED)
                .map((one) => html`${one.dia} ${code(one.tipo)} ${one.evento ?? ''} ${one.detalhe}`),
            )}`
    }`;
}

/** 0: all arrived; 4: half of it or more did not. */
export function heatOf({ esperadas, entregue }: Pick<BalanceLine, 'esperadas' | 'entregue'>): 0 | 1 | 2 | 3 | 4 {
  const missing = esperadas === 0 ? 0 : (esperadas - entregue) / esperadas;
  if (missing <= 0) return 0;
  if (missing < 0.01) return 1;
  if (missing < 0.1) return 2;
  return missing < 0.5 ? 3 : 4;
}

function heat({ t }: Visit, { de, ate, linhas }: BalanceResource): Html {
  const days: string[] = [];
  for (let day = de; day <= ate; day = addDays(day, 1)) days.push(day);
  const byPartner = [...Map.groupBy(linhas, (line) => line.parceiro_id)].slice(0, PARTNERS);
  if (byPartner.length === 0) return html`<p>${t.auditor.noLines}</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${t.auditor.heat}">
      <table class="heat">
        <caption>
          ${t.auditor.heat}
        </caption>
        <thead>
          <tr>
            <th scope="col">${t.frame.partner}</th>
            ${days.map((day) => html`<th scope="col">${day.slice(8)}/${day.slice(5, 7)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${byPartner.map(
            ([partnerId, lines]) =>
              html`<tr>
                <th scope="row">${shortId(partnerId)}</th>
                ${days.map((day) => cell(lines.find((line) => line.dia === day)))}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="dim">${t.auditor.heatHint}</p>`;
}

function cell(line: BalanceLine | undefined): Html {
  if (line === undefined) return html`<td></td>`;
  const { esperadas, entregue, pendente, erro, suspensa } = line;
  const title = `${entregue} / ${esperadas}; ${pendente} + ${erro} + ${suspensa}`;
  return html`<td class="number heat-${heatOf(line)}" title="${title}">${entregue}/${esperadas}</td>`;
}
