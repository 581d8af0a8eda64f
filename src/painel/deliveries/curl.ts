/** The command that repeats a delivery's newest attempt. */
import { html } from 'hono/html';
import type { DeliveryAsSent, SentAttempt } from '../../contract/resources/delivery-resource.ts';
import type { ShownCredentials } from '../../contract/resources/webhook-credentials.ts';
import type { Html, Visit } from '../env.ts';
import { copyable } from '../frame/parts.ts';
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
