/** From a token to a receiver that is live, and what every request has in common. */
import { html } from 'hono/html';
import { SCOPES } from '../../contract/statuses.ts';
import { SCOPE_MEANING } from '../../http/openapi/texts.ts';
import type { Html, PainelContext } from '../env.ts';
import { copyable, table } from '../frame/parts.ts';
import { DOCS } from '../language/choose.ts';
import { paragraphs } from './prose.ts';

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

export function startBody(c: PainelContext, egressAddresses: readonly string[]): Html {
  const { language, texts: t } = c.var;
  const { start, pages } = DOCS[language];
  const commands = commandsOf(new URL(c.req.url).origin);
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
      SCOPES.map((scope) => [html`<code>${scope}</code>`, SCOPE_MEANING[scope][language]]),
      'fields',
    )}
    <h2 id="enderecos">${start.egressTitle}</h2>
    ${paragraphs(egressAddresses.length === 0 ? start.noEgress : start.egress)}
    ${egressAddresses.length === 0 ? '' : copyable(t, 'egress', start.egressTitle, egressAddresses.join('\n'))}
    <h2>${start.valuesTitle}</h2>
    ${paragraphs(start.values)}`;
}
