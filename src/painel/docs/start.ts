/** From a token to a receiver that is live, and what every request has in common. */
import { html } from 'hono/html';
import { SCOPES } from '../../contract/statuses.ts';
import { CREDENTIALS_DESCRIPTION, SCOPE_MEANING } from '../../http/openapi/texts.ts';
import type { Html, PainelContext } from '../env.ts';
import { code, copyable, paragraphs, table } from '../frame/parts.ts';
import { DOCS } from '../language/choose.ts';

/** What each step runs, where it runs something; `$URL` is this host. */
function commandsOf(url: string): readonly (string | null)[] {
  return [
    `export CARTEIRO_API=${url} CARTEIRO_TOKEN=<token>`,
    'curl -O "$CARTEIRO_API/ferramentas/listen.mjs" && node listen.mjs --forward http://localhost:8080/carteiro',
    `curl -X POST "$CARTEIRO_API/v1/webhooks" \\
  -H "Authorization: Bearer $CARTEIRO_TOKEN" -H 'Content-Type: application/json' \\
  -d '{"url": "https://parceiro.example.com/carteiro", "eventos": ["averbacao.concluida", "desembolso.liquidado"]}'`,
    `curl -X POST "$CARTEIRO_API/v1/webhooks/<id>/teste" -H "Authorization: Bearer $CARTEIRO_TOKEN"
curl -X POST "$CARTEIRO_API/v1/webhooks/<id>/homologacao" -H "Authorization: Bearer $CARTEIRO_TOKEN"
curl "$CARTEIRO_API/v1/webhooks/<id>/homologacao/<homologacao_id>" -H "Authorization: Bearer $CARTEIRO_TOKEN"
CARTEIRO_SECRET='whsec_…' node listen.mjs --homologar --forward http://localhost:8080/carteiro`,
    'curl "$CARTEIRO_API/v1/eventos?depois=<cursor>" -H "Authorization: Bearer $CARTEIRO_TOKEN"',
  ];
}

/** One of each kind, as `PUT …/credenciais` takes it. */
const CREDENTIALS = [
  { autorizacao: { tipo: 'basic', usuario: 'carteiro', senha: '<senha>' } },
  { autorizacao: { tipo: 'bearer', token: '<token>' } },
  {
    autorizacao: {
      tipo: 'oauth2',
      token_url: 'https://idp.parceiro.example.com/token',
      client_id: 'carteiro',
      client_secret: '<client_secret>',
      envio: 'basic',
    },
  },
  { cabecalhos: { 'X-Api-Key': '<chave>' } },
  { certificado: { pem: '<PEM>', chave_pem: '<PEM>' } },
];

function gatewayCommands(origin: string): string {
  const put = `curl -X PUT "${origin}/v1/webhooks/<id>/credenciais" -H "Authorization: Bearer $CARTEIRO_TOKEN" -H 'Content-Type: application/json'`;
  return CREDENTIALS.map((body) => `${put} -d '${JSON.stringify(body)}'`).join('\n');
}

export function startBody(c: PainelContext, egressAddresses: readonly string[]): Html {
  const { language, texts: t } = c.var;
  const { start, pages } = DOCS[language];
  const { origin } = new URL(c.req.url);
  const commands = commandsOf(origin);
  return html`${paragraphs(start.intro)}
    ${start.steps.map(
      ({ title, how }, index) =>
        html`<h2>${title}</h2>
          ${paragraphs(how)} ${copyable(t, `step-${index + 1}`, title, commands[index] ?? '')}
          ${index === 1 ? html`<p><a href="/docs/verificacao">${pages.verification}</a></p>` : ''}`,
    )}
    <h2 id="autenticacao">${start.tokenTitle}</h2>
    ${paragraphs(start.token)}
    ${table(
      start.scope,
      [start.scope, start.allows],
      SCOPES.map((scope) => [code(scope), SCOPE_MEANING[scope][language]]),
      { wraps: true },
    )}
    <h2 id="enderecos">${start.egressTitle}</h2>
    ${paragraphs(egressAddresses.length === 0 ? start.noEgress : start.egress)}
    ${egressAddresses.length === 0 ? '' : copyable(t, 'egress', start.egressTitle, egressAddresses.join('\n'))}
    <h2 id="gateways">${start.gatewaysTitle}</h2>
    ${paragraphs([CREDENTIALS_DESCRIPTION[language], start.gateways])}
    ${copyable(t, 'gateway', start.gatewaysTitle, gatewayCommands(origin))}
    <h2>${start.valuesTitle}</h2>
    ${paragraphs(start.values)}`;
}
