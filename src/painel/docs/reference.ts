/** A reference, with a search and requests to try: Swagger UI, as its package has it, over a description in the page's language. */
import { html } from 'hono/html';
import type { Language } from '../../contract/language.ts';
import type { Html, PainelContext } from '../env.ts';
import { pathOf } from '../files.ts';
import { DOCS } from '../language/choose.ts';
import { paragraphs } from './prose.ts';

export function referenceBody(
  c: PainelContext,
  page: 'api' | 'registry',
  descriptions: Readonly<Record<Language, string>>,
): Html {
  const { language } = c.var;
  const url = descriptions[language];
  return html`${paragraphs(DOCS[language][page].intro)}
    <p><a href="${url}">${url.slice(1)}</a></p>
    <div id="reference" data-url="${url}" data-expansion="${page === 'registry' ? 'list' : 'none'}"></div>
    <link rel="stylesheet" href="${pathOf('swagger-ui.css')}" />
    <link rel="stylesheet" href="${pathOf('reference.css')}" />
    <script src="${pathOf('swagger-ui.js')}" defer></script>
    <script src="${pathOf('reference.js')}" defer></script>`;
}
