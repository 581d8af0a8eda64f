/** An event's example and the fields of its data, for the documentation and the form of a test. */
import { html } from 'hono/html';
import { z } from 'zod';
import { fieldsOf, type Json } from '../../contract/event-catalog.ts';
import { EVENTS, type SubscribableName } from '../../contract/events.ts';
import { type Bilingual, inLanguage } from '../../contract/language.ts';
import { GUARANTEE_MEANING } from '../../http/openapi/texts.ts';
import type { Html, Visit } from '../env.ts';
import { badge, code, copyable, dim, prose, table } from '../frame/parts.ts';

/** The JSON Schema of the event's data for a receiver: a later version may add keys at every level. */
function schemaOf(name: SubscribableName): Json {
  return z.toJSONSchema(EVENTS[name].data, {
    unrepresentable: 'any',
    override: ({ jsonSchema }) => void delete jsonSchema.additionalProperties,
  });
}

/** Each field of an event's data, as the page tells it. */
export function dataFieldsOf(name: SubscribableName) {
  return fieldsOf(schemaOf(name)).map(({ key, schema }) => {
    const choices = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as Json[]) : [schema];
    const type = choices.map((one) => [one['type']].flat().join(' | ')).join(' | ');
    return { name: key, type, rule: ruleOf(choices[0] ?? {}), meaning: schema['text'] as Bilingual };
  });
}

function ruleOf(schema: Json): string {
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[]).join(', ');
  const { format } = schema;
  return typeof format === 'string' ? format : '';
}

/** One event: when it fires, what of it is certain, `example` of what arrives, and the fields of its data. */
export function eventCard({ c, t }: Pick<Visit, 'c' | 't'>, name: SubscribableName, example: Html): Html {
  const { guarantee, meaning } = EVENTS[name];
  const { summary, more } = meaning[c.var.language];
  return html`<details class="card" id="${name}">
    <summary>
      ${code(name)} ${badge(t.events.guarantee[guarantee], guarantee === 'guaranteed' ? 'entregue' : undefined)}
      ${dim(summary)}
    </summary>
    ${more === undefined ? '' : html`<p>${prose(more)}</p>`}
    <p>${GUARANTEE_MEANING[guarantee][c.var.language]}</p>
    ${example}
    <h3>${t.events.fields}</h3>
    ${fieldTable({ c, t }, name)}
    <details>
      <summary>JSON Schema</summary>
      ${copyable(t, `schema-${name}`, `JSON Schema ${name}`, JSON.stringify(inLanguage(schemaOf(name), c.var.language), null, 2))}
    </details>
  </details>`;
}

export function fieldTable({ c, t: { events: words } }: Pick<Visit, 'c' | 't'>, name: SubscribableName): Html {
  return table(
    `${words.fields} ${name}`,
    [words.field, words.type, words.rule, words.meaning],
    dataFieldsOf(name).map(({ name: field, type, rule, meaning }) => [
      code(`data.${field}`),
      type,
      rule,
      meaning[c.var.language],
    ]),
    { wraps: true },
  );
}
