/** The log of seals: its newest ones, what the nightly check said, and the check of all of it. */
import { html } from 'hono/html';
import type { AuditedSealResource } from '../../contract/resources/audit-lists.ts';
import type { AuditVerdicts, VerificationResource } from '../../contract/resources/audit-verdicts.ts';
import type { Answer } from '../api-client.ts';
import type { Html, Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { formToken } from '../frame/forms.ts';
import { copyable, moment, notice, table } from '../frame/parts.ts';
import { refusalList } from '../frame/refusals.ts';
import { auditTabs } from './tabs.ts';

const SHOWN = '25';

export function verifyChain({ api }: Visit, given: string): Promise<Answer<VerificationResource>> {
  const cabeca = given.trim();
  return api.send('POST', '/v1/auditoria/verificacao', cabeca === '' ? {} : { cabeca });
}

export async function showSeals(visit: Visit, checked: Answer<VerificationResource> | null): Promise<Response> {
  const { c, t, api } = visit;
  const [{ itens: seals }, { cabeca: head, verificacao }] = await Promise.all([
    api.read<{ itens: AuditedSealResource[] }>('/v1/auditoria/selos', { limite: SHOWN }),
    api.read<AuditVerdicts>('/v1/auditoria/vereditos'),
  ]);
  return answerPage(c, {
    title: t.auditor.seals,
    body: html`${auditTabs(visit)} ${checked === null ? '' : verdict(visit, checked)}
      ${verificacao === null ? html`<p>${t.auditor.neverVerified}</p>` : lastVerdict(visit, verificacao)}
      <form class="stack narrow" method="post" action="/painel/auditoria/selos">
        ${formToken(visit)}
        <label for="cabeca">${t.auditor.head}</label>
        <input id="cabeca" name="cabeca" spellcheck="false" autocomplete="off" aria-describedby="head-hint" />
        <p id="head-hint" class="dim">${t.auditor.headHint}</p>
        <button class="primary">${t.auditor.verify}</button>
      </form>
      ${
        head === null
          ? html`<p>${t.auditor.noSeal}</p>`
          : html`<h2>${t.auditor.newestHead}</h2>
              ${copyable(t, 'head-text', t.auditor.newestHead, head)}
              ${table(
                t.auditor.seals,
                [{ number: t.loans.number }, t.auditor.sealed, { number: t.auditor.rows }, t.auditor.root],
                seals.map(({ numero, selado_em, linhas, raiz }) => [
                  numero,
                  moment(visit, selado_em),
                  linhas,
                  html`<code>${raiz.slice(0, 24)}…</code>`,
                ]),
              )}`
      }`,
  });
}

function lastVerdict(visit: Visit, { confere, achados, selos, em }: NonNullable<AuditVerdicts['verificacao']>): Html {
  const { auditor } = visit.t;
  const found = confere ? auditor.nightlyHolds(selos) : auditor.nightlyBroken(achados);
  return html`<p>${auditor.nightly} ${moment(visit, em)}: ${confere ? found : html`<strong>${found}</strong>`}</p>`;
}

function verdict({ c, t }: Visit, checked: Answer<VerificationResource>): Html {
  if (!checked.ok) return refusalList(c, checked.error);
  const { achados, selos, linhas } = checked.body;
  const [first] = achados;
  if (first === undefined) return notice('done', t.auditor.unbroken(selos, linhas));
  const where = [first.tipo, first.tabela, first.linha, first.colunas.join(', ')].filter(Boolean).join(' ');
  return notice('failed', t.auditor.broken(achados.length, `${where}: ${first.detalhe}`));
}
