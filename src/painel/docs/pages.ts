/** The documentation at /docs, for everybody: no token, one language at a time, no other host. */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import type { Language } from '../../contract/language.ts';
import { describeRegistry } from '../../http/openapi/registry-document.ts';
import { notFound } from '../../http/api-error.ts';
import { DESCRIPTION_PATHS } from '../../http/openapi/texts.ts';
import type { Html, PainelContext, PainelDeps, PainelEnv } from '../env.ts';
import { pathOf } from '../files.ts';
import { answerPage, menu } from '../frame/page.ts';
import { code, paragraphs, prose, table } from '../frame/parts.ts';
import { DOCS, type DocsTexts } from '../language/choose.ts';
import { changesBody } from './changes.ts';
import { eventsBody } from './events.ts';
import { type Body, LLMS_PATH, MARKDOWN_PATH, markdownPages } from './markdown.ts';
import { scheduleBody } from './schedule.ts';
import { startBody } from './start.ts';
import { FILES_PATH, fileOf, verificationBody } from './verification.ts';

const REFERENCE_PATH = '/docs/api';
const REGISTRY_PATH = '/docs/registry';
/** Where Swagger UI shows a description. */
export const REFERENCE_PATHS: readonly string[] = [REFERENCE_PATH, REGISTRY_PATH];

const WHOLE_DESCRIPTIONS = { pt: `${DESCRIPTION_PATHS.pt}?para=tudo`, en: `${DESCRIPTION_PATHS.en}?para=tudo` };
const REGISTRY_DESCRIPTIONS = { pt: `${REGISTRY_PATH}/openapi.json`, en: `${REGISTRY_PATH}/openapi.en.json` };

const PATHS: Readonly<Record<keyof DocsTexts['pages'], string>> = {
  start: '/docs',
  events: '/docs/eventos',
  verification: '/docs/verificacao',
  schedule: '/docs/calendario',
  rules: '/docs/regras',
  changes: '/docs/mudancas',
  api: REFERENCE_PATH,
  registry: REGISTRY_PATH,
};

export function addDocsPages(
  app: Hono<PainelEnv>,
  { checkpointKeys, egressAddresses, api }: Pick<PainelDeps, 'checkpointKeys' | 'egressAddresses' | 'api'>,
): void {
  const bodies = {
    start: (c: PainelContext) => startBody(c, egressAddresses),
    rules: rulesBody,
    events: eventsBody,
    verification: (c: PainelContext) => verificationBody(c, checkpointKeys),
    schedule: scheduleBody,
    changes: (c: PainelContext) => changesBody(c, api),
  };
  for (const [page, body] of Object.entries(bodies) as [keyof typeof bodies, Body][])
    app.get(PATHS[page], async (c) => answer(c, page, await body(c)));
  const markdown = markdownPages(bodies);
  app.get(MARKDOWN_PATH, (c) => markdown.whole(c));
  app.get(LLMS_PATH, (c) => markdown.index(c));
  app.get(`${FILES_PATH}/:file`, (c) => {
    const text = fileOf(c.req.param('file'));
    if (text === null) throw notFound();
    return c.text(text);
  });
  app.get(PATHS.api, (c) => answer(c, 'api', referenceBody(c, 'api', WHOLE_DESCRIPTIONS)));
  app.get(PATHS.registry, (c) => answer(c, 'registry', referenceBody(c, 'registry', REGISTRY_DESCRIPTIONS)));
  for (const language of ['pt', 'en'] as const) {
    app.get(REGISTRY_DESCRIPTIONS[language], (c) => c.json(describeRegistry(language) as object));
  }
}

function answer(c: PainelContext, page: keyof DocsTexts['pages'], body: Html): Response | Promise<Response> {
  const words = DOCS[c.var.language];
  c.header('Cache-Control', 'no-cache');
  const pages = Object.entries(PATHS).map(([name, path]) => ({ path, label: words.pages[name as keyof typeof PATHS] }));
  return answerPage(c, { title: words[page].title, body, navigation: menu(words.menu, pages, PATHS[page]) });
}

/** A search and requests to try: Swagger UI, as its package has it, over a description in the page's language. */
function referenceBody(
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

/** What the contract says of events beside their fields. */
function rulesBody(c: PainelContext): Html {
  const { rules: words } = DOCS[c.var.language];
  const mapping: readonly (readonly [event: string, answer: string])[] = [
    ['salario_bruto', '`valor_total_vencimentos`'],
    ['margem_disponivel', '`valor_margem_disponivel`'],
    ['cnpj_empregador', words.fourteen],
    ['cpf_trabalhador', '`cpf`'],
    ['margem_percentual', words.derived],
    ['consulta_margem_id', '`consulta_margem_id`'],
  ];
  return html`${paragraphs(words.intro)}
  ${words.sections.map(
    ({ title, texts }, index) =>
      html`<h2>${title}</h2>
        ${paragraphs(texts)}
        ${
          index > 0
            ? ''
            : table(
                title,
                [words.ofEvent, words.ofAnswer],
                mapping.map(([event, answer]) => [code(event), prose(answer)]),
                { wraps: true },
              )
        }`,
  )}`;
}
