/** The auditor's pages: attempts and their export, the balance, the log of seals, one delivery as evidence. */
import { html } from 'hono/html';
import type { AuditedSealResource } from '../../contract/resources/audit-lists.ts';
import type { Proof } from '../../contract/resources/audit-resource.ts';
import type {
  AuditVerdicts,
  CheckedProofResource,
  VerificationResource,
} from '../../contract/resources/audit-verdicts.ts';
import type { Answer } from '../api-client.ts';
import { anchorList, evidenceFacts, sealOf } from '../deliveries/papers.ts';
import type { Html, Visit } from '../env.ts';
import { postForm, VERBATIM } from '../frame/forms.ts';
import type { Guard } from '../frame/guard.ts';
import { AUDIT } from '../frame/nav.ts';
import { type Page, refusalList } from '../frame/page.ts';
import { badge, code, copyable, fact, moment, notice, plainList, statusBadge, table } from '../frame/parts.ts';
import { exportPath, showAttempts } from './attempts.ts';
import { showBalance } from './balance.ts';

const PATH = '/painel/auditoria';
const SEALS = `${PATH}/selos`;

export function addAuditorPages(guard: Guard): void {
  const show = (path: string, page: (visit: Visit) => Promise<Page>) =>
    guard.show(path, AUDIT, async (visit) => underTabs(visit, await page(visit)));
  show(PATH, showAttempts);
  guard.show(`${PATH}/exportar`, AUDIT, (visit) => visit.api.pass(exportPath(visit)));
  show(`${PATH}/balanco`, showBalance);
  show(SEALS, (visit) => showSeals(visit, null));
  guard.act(SEALS, AUDIT, async (visit, form) => {
    const cabeca = form.get('cabeca')?.trim() ?? '';
    const path = '/v1/auditoria/verificacao';
    const checked = await visit.api.send<VerificationResource>('POST', path, cabeca === '' ? {} : { cabeca });
    return underTabs(visit, await showSeals(visit, checked));
  });
  show(`${PATH}/entregas/:id`, showEvidence);
  guard.show(`${PATH}/entregas/:id/prova`, AUDIT, async ({ c, api, id }) => {
    const proof = await api.read<Proof>(`/v1/auditoria/entregas/${id}/prova`);
    c.header('Content-Disposition', `attachment; filename="prova-${id}.json"`);
    return c.json(proof);
  });
}

function underTabs({ c, t }: Visit, page: Page): Page {
  const tabs = [
    [PATH, t.deliveries.attempts],
    [`${PATH}/balanco`, t.auditor.balance],
    [SEALS, t.auditor.seals],
  ] as const;
  const here = (path: string) => (c.req.path === path ? html`aria-current="page"` : '');
  return {
    ...page,
    body: html`<nav class="actions" aria-label="${t.frame.audit}">
        ${tabs.map(([path, label]) => html`<a class="button" href="${path}" ${here(path)}>${label}</a>`)}
      </nav>
      ${page.body}`,
  };
}

async function showSeals(visit: Visit, checked: Answer<VerificationResource> | null): Promise<Page> {
  const { t, api } = visit;
  const [{ itens: seals }, { cabeca: head, verificacao }] = await Promise.all([
    api.read<{ itens: AuditedSealResource[] }>('/v1/auditoria/selos', { limite: '25' }),
    api.read<AuditVerdicts>('/v1/auditoria/vereditos'),
  ]);
  const fields = html`<label for="cabeca">${t.auditor.head}</label>
    <input id="cabeca" name="cabeca" ${VERBATIM} aria-describedby="head-hint" />
    <p id="head-hint" class="dim">${t.auditor.headHint}</p>
    <button class="primary">${t.auditor.verify}</button>`;
  const rows = seals.map(({ numero, selado_em, linhas, raiz }) => [
    numero,
    moment(visit, selado_em),
    linhas,
    code(`${raiz.slice(0, 24)}…`),
  ]);
  const columns = [{ number: t.loans.number }, t.auditor.sealed, { number: t.auditor.rows }, t.auditor.root];
  return {
    title: t.auditor.seals,
    body: html`${checked && chainVerdict(visit, checked)} ${nightlyVerdict(visit, verificacao)}
    ${postForm(visit, SEALS, fields, 'stack narrow')}
    ${
      head === null
        ? html`<p>${t.auditor.noSeal}</p>`
        : html`<h2>${t.auditor.newestHead}</h2>
            ${copyable(t, 'head-text', t.auditor.newestHead, head)} ${table(t.auditor.seals, columns, rows)}`
    }`,
  };
}

function nightlyVerdict(visit: Visit, found: AuditVerdicts['verificacao']): Html {
  const { auditor } = visit.t;
  if (found === null) return html`<p>${auditor.neverVerified}</p>`;
  const { confere, achados, selos, em } = found;
  const said = confere ? auditor.nightlyHolds(selos) : html`<strong>${auditor.nightlyBroken(achados)}</strong>`;
  return html`<p>${auditor.nightly} ${moment(visit, em)}: ${said}</p>`;
}

function chainVerdict({ c, t }: Visit, checked: Answer<VerificationResource>): Html {
  if (!checked.ok) return refusalList(c, checked.error);
  const { achados, selos, linhas } = checked.body;
  const [first] = achados;
  if (first === undefined) return notice('done', t.auditor.unbroken(selos, linhas));
  const where = [first.tipo, first.tabela, first.linha, first.colunas.join(', ')].filter(Boolean).join(' ');
  return notice('failed', t.auditor.broken(achados.length, `${where}: ${first.detalhe}`));
}

/** One delivery as evidence, and whether it fits. */
async function showEvidence(visit: Visit): Promise<Page> {
  const { t, api, id } = visit;
  const path = `/v1/auditoria/entregas/${id}`;
  const [proof, checked] = await Promise.all([
    api.read<Proof>(`${path}/prova`),
    api.read<CheckedProofResource>(`${path}/conferencia`),
  ]);
  const lines = [...(proof.evento === null ? [] : [proof.evento]), ...proof.tentativas, ...proof.pedidos];
  const anchors = html`<h2>${t.auditor.receipts}</h2>
    ${anchorList(visit, proof)}`;
  return {
    title: t.auditor.evidence,
    body: html`${proofVerdict(visit, checked)}
      <dl class="facts">
        ${evidenceFacts(visit, proof)} ${fact(t.deliveries.status, statusBadge(t, proof.entrega.status))}
      </dl>
      <p class="actions">
        <a class="button" href="${PATH}/entregas/${id}/prova" download>${t.delivery.proof}</a>
        <a class="button" href="${PATH}?entrega_id=${id}">${t.auditor.itsAttempts}</a>
      </p>
      ${proof.retido === null ? '' : html`<p class="dim">${t.auditor.withheld}</p>`}
      ${proof.ancoras.length > 0 && anchors}
      <h2>${t.delivery.body}</h2>
      <pre tabindex="0">${proof.corpo}</pre>
      <h2>${t.auditor.lines}</h2>
      ${plainList(
        lines.map(
          ({ campos, selo }) =>
            html`${badge(sealOf(t, selo))}
              <pre tabindex="0">${JSON.stringify(campos, null, 1)}</pre>`,
        ),
      )}`,
  };
}

function proofVerdict({ t }: Visit, { confere, motivo }: CheckedProofResource): Html {
  if (confere === false) return notice('failed', `${t.auditor.doesNotFit} ${motivo ?? ''}`);
  return notice('done', confere === null ? t.auditor.fitsInPart : t.auditor.fits);
}
