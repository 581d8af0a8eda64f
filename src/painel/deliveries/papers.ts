/** Of one delivery: the curl command that repeats its newest attempt, and its evidence as a page to print. */
import { html } from 'hono/html';
import type { Proof } from '../../contract/resources/audit-resource.ts';
import type { DeliveryAsSent, SentAttempt } from '../../contract/resources/delivery-resource.ts';
import type { ShownCredentials } from '../../contract/resources/webhook-credentials.ts';
import type { Html, Visit } from '../env.ts';
import type { Page } from '../frame/page.ts';
import { badge, code, copyable, fact, moment, plainList } from '../frame/parts.ts';
import type { Texts } from '../language/choose.ts';

export function curlPart(
  { t }: Visit,
  { tentativas, corpo }: DeliveryAsSent,
  credentials: ShownCredentials,
): Html | '' {
  const last = tentativas.findLast(
    ({ assinaturas_conhecidas: isSigned, cabecalhos }) => isSigned && cabecalhos.length > 0,
  );
  if (last === undefined) return '';
  const secrets = credentialsForCurl(t.delivery.placeholders, credentials);
  return html`<section aria-labelledby="curl">
    <h2 id="curl">${t.delivery.curl}</h2>
    <p class="dim">${t.delivery.curlHint} ${secrets.length === 0 ? '' : t.delivery.curlCredentials}</p>
    ${copyable(t, 'curl-text', t.delivery.curl, curlOf(last, secrets, corpo))}
  </section>`;
}

/** For a POSIX shell; nothing in what is quoted can end the quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** The options of curl for what the gateway demands, a word in capitals in place of each secret. */
function credentialsForCurl(
  word: Texts['delivery']['placeholders'],
  { cabecalhos, autorizacao, certificado }: ShownCredentials,
): string[] {
  const authorization =
    autorizacao?.tipo === 'basic' ? `-u ${quoted(word.user)}` : `-H ${quoted(`Authorization: Bearer ${word.token}`)}`;
  return [
    ...(autorizacao === null ? [] : [authorization]),
    ...cabecalhos.map((name) => `-H ${quoted(`${name}: ${word.value}`)}`),
    ...(certificado === null ? [] : [`--cert ${quoted(word.certificate)} --key ${quoted(word.key)}`]),
  ];
}

function curlOf({ url, cabecalhos }: SentAttempt, secrets: readonly string[], body: string): string {
  const lines = [
    `curl -i --globoff ${quoted(url)}`,
    ...cabecalhos.map(({ nome, valor }) => `-H ${quoted(`${nome}: ${valor}`)}`),
    ...secrets,
    `--data-raw ${quoted(body)}`,
  ];
  return lines.join(' \\\n  ');
}

/** What is sealed, and the commands that check it without us. */
export function showSheet(visit: Visit, proof: Proof): Page {
  const { c, t } = visit;
  const { entrega, evento, tentativas, checkpoint, selos } = proof;
  const { type = '', commitment = '' } = evento?.campos ?? {};
  const file = `prova-${entrega.id}.json`;
  const box = (text: string) => html`<pre tabindex="0">${text}</pre>`;
  return {
    title: t.delivery.sheet,
    body: html`${type === 'webhook.teste' ? html`<p class="notice notice-failed"><strong>${t.delivery.sheetTest}</strong></p>` : ''}
      <dl class="facts">
        ${evidenceFacts(visit, proof)} ${fact(t.deliveries.event, String(type))}
        ${fact('SHA-256(sal ‖ corpo)', String(commitment), 'wrap')}
      </dl>
      <h2>${t.delivery.timeline}</h2>
      ${plainList(
        tentativas.map(({ campos, selo }) => {
          const { number, started_at: at, outcome, status_code: answer, url, body_digest: digest } = campos;
          return html`${String(number)}. ${moment(visit, String(at))} <strong>${outcome}</strong> ${answer ?? ''}
            ${code(String(url))} ${code(String(digest ?? ''))} ${sealOf(t, selo)}`;
        }),
      )}
      <h2>Checkpoint</h2>
      ${box(checkpoint ?? t.auditor.notSealed)}
      ${plainList(selos.map(({ numero, entrada }) => html`${sealOf(t, numero)} ${code(entrada.split('\n')[5] ?? '')}`))}
      ${anchorList(visit, proof)}
      <h2>${t.delivery.sheetCheck}</h2>
      <p><a class="button" href="/painel/entregas/${entrega.id}/prova" download>${t.delivery.proof}</a></p>
      <p>${t.delivery.sheetHash}</p>
      ${box(`{ jq -j .sal ${file} | base64 -d; jq -j .corpo ${file}; } | sha256sum`)}
      <p>${t.delivery.sheetStamp}</p>
      ${box(`jq -j '.ancoras[] | select(.tipo == "carimbo_de_tempo") | .recibo' ${file} | base64 -d > carimbo.tsr
jq -j '.ancoras[] | select(.tipo == "carimbo_de_tempo") | .checkpoint' ${file} > checkpoint.txt
openssl ts -verify -in carimbo.tsr -data checkpoint.txt -CAfile act.pem`)}
      <p>${t.delivery.sheetVerifier}</p>
      ${box(`curl -fsS ${new URL(c.req.url).origin}/.well-known/carteiro-checkpoint-keys -o carteiro.pub
python3 carteiro_audit.py check ${file} carteiro.pub`)}`,
  };
}

/** What names a delivery, for a partner and for an auditor. */
export function evidenceFacts(visit: Visit, { entrega }: Proof): Html {
  const { t } = visit;
  return html`${fact('Id', entrega.id, 'id')} ${fact(t.delivery.eventId, entrega.evento_id, 'id')}
  ${fact('Webhook', entrega.webhook_id, 'id')} ${fact(t.frame.partner, entrega.parceiro_id, 'id')}
  ${fact(t.delivery.created, moment(visit, entrega.criada_em))}`;
}

export function sealOf({ auditor }: Texts, seal: number | null): string {
  return seal === null ? auditor.notSealed : auditor.inSeal(seal);
}

/** Which places outside keep a checkpoint that covers the rows. */
export function anchorList(visit: Visit, { ancoras }: Proof): Html | '' {
  return plainList(
    ancoras.map(
      ({ tipo, onde, ancorada_em: at }) =>
        html`${badge(visit.t.auditor.places[tipo])} ${code(onde)} ${moment(visit, at)}`,
    ),
  );
}
