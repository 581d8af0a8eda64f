/** The operations of the API, made from the description: one that is described is here. */
import { html } from 'hono/html';
import { ERROR_STATUS, type ErrorCode } from '../../contract/errors.ts';
import { describeCollection, type Description } from '../../http/openapi/collection.ts';
import { WHEN } from '../../http/openapi/error-answers.ts';
import type { Html, PainelContext } from '../env.ts';
import { inEnglish } from '../language/api-english.ts';
import { DOCS } from '../language/choose.ts';
import type { DocsTexts } from '../language/pt/docs.ts';
import { copyable, table } from '../frame/parts.ts';
import { type Row, rowOf, rowsOf, type Schema, type Schemas } from './fields.ts';
import { paragraphs, prose } from './prose.ts';

interface Content {
  readonly 'application/json'?: { readonly schema: Schema };
}

interface Answer {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly { readonly bearer: readonly string[] }[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
}

/** `/openapi.json`, as far as the page reads it. */
export type ApiDescription = Omit<Description, 'paths' | 'components'> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Schemas };
};

interface Shown {
  readonly c: PainelContext;
  readonly words: DocsTexts['api'];
  /** A text of the description in the page's language. */
  readonly say: (text: string) => string;
  readonly description: ApiDescription;
  /** Each operation's body, ready to send, by method and path. */
  readonly bodies: ReadonlyMap<string, string>;
}

export function apiBody(c: PainelContext, description: ApiDescription): Html {
  const { language } = c.var;
  const say = language === 'pt' ? (text: string) => text : inEnglish;
  const shown: Shown = { c, words: DOCS[language].api, say, description, bodies: bodiesOf(description) };
  return html`${paragraphs(shown.words.intro)}
    <p><a href="/openapi.json">openapi.json</a></p>
    <ul class="plain">
      ${description.tags.map(({ name }) => html`<li><a href="#${name}">${name}</a></li>`)}
    </ul>
    ${description.tags.map(
      (tag) =>
        html`<h2 id="${tag.name}">${tag.name}</h2>
          <p>${prose(say(tag.description))}</p>
          ${operationsOf(description, tag.name).map((operation) => card(shown, operation))}`,
    )}
    ${errorTable(shown)}`;
}

type Placed = Operation & { readonly method: string; readonly path: string };

function operationsOf({ paths }: ApiDescription, tag: string): Placed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags[0] === tag)
      .map(([method, operation]) => Object.assign({ method: method.toUpperCase(), path }, operation)),
  );
}

/** As the collection has them, which names the variables that a reader replaces. */
function bodiesOf(description: ApiDescription): ReadonlyMap<string, string> {
  const { item } = describeCollection(description as unknown as Description, '') as {
    readonly item: readonly {
      readonly item: readonly { readonly name: string; readonly request: { body?: { raw: string } } }[];
    }[];
  };
  return new Map(item.flatMap((folder) => folder.item.map(({ name, request }) => [name, request.body?.raw ?? ''])));
}

function card(shown: Shown, operation: Placed): Html {
  const { c, words, say, description, bodies } = shown;
  const { operationId: id, method, path, summary, security, parameters, requestBody } = operation;
  const scope = security[0]?.bearer[0] ?? '';
  const { schemas } = description.components;
  const bodySchema = requestBody?.content['application/json']?.schema;
  const given = parameters.map((parameter) => {
    const row = rowOf(parameter.name, parameter.schema, parameter.required, schemas);
    return Object.assign(row, {
      description: parameter.description ?? row.description,
      type: `${parameter.in}: ${row.type}`,
    });
  });
  return html`<details class="card" id="${id}">
    <summary><code>${method} ${path}</code> <span class="dim">${say(summary)}</span></summary>
    ${paragraphs(aboutOf(operation).map(say))}
    <p>${words.scope} <code>${scope}</code></p>
    <h3>${words.request}</h3>
    ${copyable(c.var.texts, `request-${id}`, `${words.request} ${method} ${path}`, requestText(operation, bodies))}
    ${given.length === 0 ? '' : partTable(shown, words.parameters, given)}
    ${bodySchema === undefined ? '' : partTable(shown, words.body, rowsOf(bodySchema, schemas))}
    <h3>${words.answers}</h3>
    ${Object.entries(operation.responses)
      .filter(([status]) => Number(status) < 300)
      .map(([status, answer]) => answerPart(shown, status, answer))}
    ${refusalsLine(shown, operation)}
  </details>`;
}

/** The scope has a line of its own. */
function aboutOf({ description }: Operation): string[] {
  return description.split('\n\n').filter((text) => !text.startsWith('Escopo exigido: '));
}

function requestText({ method, path, parameters }: Placed, bodies: ReadonlyMap<string, string>): string {
  const body = bodies.get(`${method} ${path}`) ?? '';
  const key = parameters.find(({ in: place, required }) => place === 'header' && required);
  return [
    `${method} ${path} HTTP/1.1`,
    'Authorization: Bearer <token>',
    ...(key === undefined ? [] : [`${key.name}: <uuid>`]),
    ...(body === '' ? [] : ['Content-Type: application/json', '', body]),
  ].join('\n');
}

function answerPart(shown: Shown, status: string, { description = '', content, headers = {} }: Answer): Html {
  const schema = content?.['application/json']?.schema;
  const rows = schema === undefined ? [] : rowsOf(schema, shown.description.components.schemas);
  // X-Request-Id comes with every answer, by reference.
  const own = Object.entries(headers).filter(([, header]) => header.description !== undefined);
  return html`<p><strong>${status}</strong> ${prose(shown.say(description))}</p>
    ${own.map(([name, header]) => html`<p><code>${name}</code>: ${prose(shown.say(header.description ?? ''))}</p>`)}
    ${rows.length === 0 ? '' : partTable(shown, `${shown.words.answer} ${status}`, rows)}`;
}

/** The codes of an answer that refuses: a component of that name, or several told in one description. */
function codesOf({ $ref, description = '' }: Answer): string[] {
  if ($ref !== undefined) return [$ref.replace('#/components/responses/', '')];
  return [...description.matchAll(/`([A-Z_]+)`:/g)].map(([, code = '']) => code);
}

function refusalsLine({ words }: Shown, { responses }: Operation): Html {
  const refused = Object.entries(responses).filter(([status]) => Number(status) >= 300);
  return html`<p>
    <a href="#erros">${words.refusals}</a>:
    ${refused.map(([status, answer]) => html`${status} ${codesOf(answer).map((code) => html`<code>${code}</code> `)}`)}
  </p>`;
}

function errorTable({ words, say }: Shown): Html {
  return html`<h2 id="erros">${words.errors}</h2>
    ${paragraphs(words.errorShape)}
    ${table(
      words.errors,
      ['status', 'codigo', words.meaning],
      Object.entries(ERROR_STATUS).map(
        ([code, status]) =>
          html`<tr>
            <td>${status}</td>
            <td><code>${code}</code></td>
            <td>${prose(say(WHEN[code as ErrorCode]))}</td>
          </tr>`,
      ),
      'fields',
    )}`;
}

function partTable({ words, say }: Shown, label: string, rows: readonly Row[]): Html {
  return table(
    label,
    [label, words.type, words.rule, words.meaning],
    rows.map(
      ({ name, type, isRequired, rule, description }) =>
        html`<tr>
          <td><code>${name}</code>${isRequired ? html` <span class="badge">${words.required}</span>` : ''}</td>
          <td>${type}</td>
          <td>${rule}</td>
          <td>${description === '' ? '' : prose(say(description))}</td>
        </tr>`,
    ),
    'fields',
  );
}
