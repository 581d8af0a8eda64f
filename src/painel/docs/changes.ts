/** The changes of each version of the interface, read from `since` of the description's operations and fields. */
import { html } from 'hono/html';
import { EVENTS, NOTICE_NAMES } from '../../contract/events.ts';
import { VERSIONS } from '../../contract/language.ts';
import { DESCRIPTION_PATHS } from '../../http/openapi/texts.ts';
import type { Html, PainelContext, PainelDeps } from '../env.ts';
import { code, paragraphs, plainList, table } from '../frame/parts.ts';
import { DOCS } from '../language/choose.ts';

interface Reported {
  readonly 'x-since'?: string;
  readonly summary?: string;
}

type Fields = Readonly<Record<string, Reported>>;

interface Operation extends Reported {
  readonly parameters?: readonly { readonly name: string; readonly schema: Reported }[];
  /** A body that is no component has its fields here. */
  readonly requestBody?: {
    readonly content: { readonly 'application/json'?: { readonly schema: { readonly properties?: Fields } } };
  };
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: Fields }>>;
  };
}

export async function changesBody(c: PainelContext, api: PainelDeps['api']): Promise<Html> {
  const { language } = c.var;
  const answer = await api(new Request(new URL(`${DESCRIPTION_PATHS[language]}?para=tudo`, c.req.url)));
  const { paths, components } = (await answer.json()) as Description;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, reported]) =>
      Object.assign(reported, { name: `${method.toUpperCase()} ${path}` }),
    ),
  );
  const named = (fields: Fields, prefix: string) =>
    Object.entries(fields).map(([field, reported]) => Object.assign(reported, { name: `${prefix}${field}` }));
  const fields = [
    ...Object.entries(components.schemas).flatMap(([schema, { properties = {} }]) => named(properties, `${schema}.`)),
    ...operations.flatMap(({ name, parameters = [], requestBody }) => [
      ...parameters.map((parameter) => Object.assign(parameter.schema, { name: `${name}?${parameter.name}` })),
      ...named(requestBody?.content['application/json']?.schema.properties ?? {}, `${name} `),
    ]),
  ];
  const events = NOTICE_NAMES.map((name) => {
    const { since, meaning } = EVENTS[name];
    return { name, 'x-since': since, summary: meaning[language].summary };
  });
  const words = DOCS[language].changes;
  return html`${paragraphs(words.intro)}
  ${VERSIONS.map((version) => {
    const of = (all: readonly (Reported & { readonly name: string })[]) =>
      all.filter((one) => one['x-since'] === version);
    const rows = (all: typeof operations) => of(all).map(({ name, summary = '' }) => [code(name), summary]);
    const title = `${words.version} ${version}`;
    const part = (label: string, body: Html | '') =>
      body === ''
        ? ''
        : html`<h3>${label}</h3>
            ${body}`;
    const listed = (label: string, all: typeof operations) =>
      of(all).length === 0 ? '' : table(`${label}, ${title}`, [label, words.what], rows(all), { wraps: true });
    return html`<h2>${title}</h2>
      ${part(words.operations, listed(words.operations, operations))}
      ${part(words.events, listed(words.events, events))}
      ${part(words.fields, plainList(of(fields).map(({ name }) => code(name))))}`;
  })}`;
}
