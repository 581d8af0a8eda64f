/** One delivery as evidence, and whether it fits. */
import { html } from 'hono/html';
import type { Proof } from '../../contract/resources/audit-resource.ts';
import type { CheckedProofResource } from '../../contract/resources/audit-verdicts.ts';
import type { Html, Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { fact, moment, notice, plainList, statusBadge } from '../frame/parts.ts';
import { auditTabs } from './tabs.ts';

export async function showEvidence(visit: Visit, proof: Proof, checked: CheckedProofResource): Promise<Response> {
  const { c, t } = visit;
  const { entrega } = proof;
  const lines = [...(proof.evento === null ? [] : [proof.evento]), ...proof.tentativas, ...proof.pedidos];
  return answerPage(c, {
    title: t.auditor.evidence,
    body: html`${auditTabs(visit)} ${verdict(visit, checked)}
      <dl class="facts">
        ${fact('Id', entrega.id, 'id')} ${fact(t.frame.partner, entrega.parceiro_id, 'id')}
        ${fact('Webhook', entrega.webhook_id, 'id')} ${fact(t.delivery.eventId, entrega.evento_id, 'id')}
        ${fact(t.deliveries.status, statusBadge(t, entrega.status))}
        ${fact(t.delivery.created, moment(visit, entrega.criada_em))}
      </dl>
      <p class="actions">
        <a class="button" href="/painel/auditoria/entregas/${entrega.id}/prova" download>${t.delivery.proof}</a>
        <a class="button" href="/painel/auditoria?entrega_id=${entrega.id}">${t.auditor.itsAttempts}</a>
      </p>
      ${proof.retido !== null ? html`<p class="dim">${t.auditor.withheld}</p>` : ''} ${receipts(visit, proof)}
      <h2>${t.delivery.body}</h2>
      <pre tabindex="0">${proof.corpo}</pre>
      <h2>${t.auditor.lines}</h2>
      ${plainList(
        lines.map(
          ({ campos, selo }) =>
            html`<span class="badge">${selo === null ? t.auditor.notSealed : t.auditor.inSeal(selo)}</span>
              <pre tabindex="0">${JSON.stringify(campos, null, 1)}</pre>`,
        ),
      )}`,
  });
}

function verdict({ t }: Visit, { confere, motivo }: CheckedProofResource): Html {
  if (confere === true) return notice('done', t.auditor.fits);
  return confere === null
    ? notice('done', t.auditor.fitsInPart)
    : notice('failed', `${t.auditor.doesNotFit} ${motivo ?? ''}`);
}

/** Which places outside keep a checkpoint that covers these rows. */
function receipts(visit: Visit, { ancoras }: Proof): Html | '' {
  const { t } = visit;
  if (ancoras.length === 0) return '';
  return html`<h2>${t.auditor.receipts}</h2>
    ${plainList(
      ancoras.map(
        ({ tipo, onde, ancorada_em: at }) =>
          html`<span class="badge">${t.auditor.places[tipo]}</span> <code>${onde}</code> ${moment(visit, at)}`,
      ),
    )}`;
}
