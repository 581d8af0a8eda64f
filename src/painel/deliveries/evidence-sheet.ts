/** One delivery's evidence as a page to print: what is sealed, and the commands that check it without us. */
import { html } from 'hono/html';
import type { Proof } from '../../contract/resources/audit-resource.ts';
import type { Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { fact, moment, plainList } from '../frame/parts.ts';

export function showSheet(visit: Visit, proof: Proof, origin: string): Promise<Response> | Response {
  const { c, t } = visit;
  const { entrega, evento, tentativas, checkpoint, ancoras, selos } = proof;
  const { type = '', commitment = '' } = evento?.campos ?? {};
  const file = `prova-${entrega.id}.json`;
  return answerPage(c, {
    title: t.delivery.sheet,
    body: html`${type === 'webhook.teste' ? html`<p class="notice failed"><strong>${t.delivery.sheetTest}</strong></p>` : ''}
      <dl class="facts">
        ${fact('Id', entrega.id, 'id')} ${fact(t.delivery.eventId, entrega.evento_id, 'id')}
        ${fact('Webhook', entrega.webhook_id, 'id')} ${fact(t.frame.partner, entrega.parceiro_id, 'id')}
        ${fact(t.delivery.sheetEvent, String(type))} ${fact(t.delivery.created, moment(visit, entrega.criada_em))}
        ${fact('SHA-256(sal ‖ corpo)', String(commitment), 'wrap')}
      </dl>
      <h2>${t.delivery.timeline}</h2>
      ${plainList(
        tentativas.map(({ campos, selo }) => {
          const { number, started_at: at, outcome, status_code: code, url, body_digest: digest } = campos;
          return html`${String(number)}. ${moment(visit, String(at))} <strong>${outcome}</strong> ${code ?? ''}
            <code>${url}</code>
            <code>${digest ?? ''}</code> ${selo === null ? t.auditor.notSealed : t.auditor.inSeal(selo)}`;
        }),
      )}
      <h2>Checkpoint</h2>
      <pre tabindex="0">${checkpoint ?? t.auditor.notSealed}</pre>
      ${plainList(
        selos.map(
          ({ numero, entrada }) => html`${t.auditor.inSeal(numero)} <code>${entrada.split('\n')[5] ?? ''}</code>`,
        ),
      )}
      ${plainList(
        ancoras.map(
          ({ tipo, onde, ancorada_em: at }) =>
            html`<span class="badge">${t.auditor.places[tipo]}</span> <code>${onde}</code> ${moment(visit, at)}`,
        ),
      )}
      <h2>${t.delivery.sheetCheck}</h2>
      <p><a class="button" href="/painel/entregas/${entrega.id}/prova" download>${t.delivery.proof}</a></p>
      <p>${t.delivery.sheetHash}</p>
      <pre tabindex="0">${`{ jq -j .sal ${file} | base64 -d; jq -j .corpo ${file}; } | sha256sum`}</pre>
      <p>${t.delivery.sheetStamp}</p>
      <pre tabindex="0">
${`jq -j '.ancoras[] | select(.tipo == "carimbo_de_tempo") | .recibo' ${file} | base64 -d > carimbo.tsr
jq -j '.ancoras[] | select(.tipo == "carimbo_de_tempo") | .checkpoint' ${file} > checkpoint.txt
openssl ts -verify -in carimbo.tsr -data checkpoint.txt -CAfile act.pem`}</pre>
      <p>${t.delivery.sheetVerifier}</p>
      <pre tabindex="0">
${`curl -fsS ${origin}/.well-known/carteiro-checkpoint-keys -o carteiro.pub
python3 carteiro_audit.py check ${file} carteiro.pub`}</pre>`,
  });
}
