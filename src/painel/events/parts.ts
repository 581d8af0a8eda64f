/** What the catalogue and the documentation both show of an event's data. */
import { html } from 'hono/html';
import { EVENTS, type SubscribableName } from '../../contract/events.ts';
import { inLanguage } from '../../contract/language.ts';
import { GUARANTEE_MEANING } from '../../http/openapi/texts.ts';
import { prose } from '../docs/prose.ts';
import type { Html, Visit } from '../env.ts';
import { copyable, table } from '../frame/parts.ts';
import { fieldsOf, schemaOf } from './example.ts';

/** One event: when it fires, what of it is certain, `example` of what arrives, and the fields of its data. */
export function eventCard({ c, t }: Pick<Visit, 'c' | 't'>, name: SubscribableName, example: Html): Html {
  const { guarantee, meaning } = EVENTS[name];
  const { summary, more } = meaning[c.var.language];
  return html`<details class="card" id="${name}">
    <summary>
      <code>${name}</code>
      <span class="badge${guarantee === 'guaranteed' ? ' badge-entregue' : ''}">${t.events.guarantee[guarantee]}</span>
      <span class="dim">${summary}</span>
    </summary>
    ${more === undefined ? '' : html`<p>${prose(more)}</p>`}
    <p>${GUARANTEE_MEANING[guarantee][c.var.language]}</p>
    ${example}
    <h3>${t.events.fields}</h3>
    ${fieldTable({ c, t }, name)} ${schemaPart({ c, t }, name)}
  </details>`;
}

export function fieldTable({ c, t: { events: words } }: Pick<Visit, 'c' | 't'>, name: SubscribableName): Html {
  return table(
    `${words.fields} ${name}`,
    [words.field, words.type, words.rule, words.meaning],
    fieldsOf(name).map((field) => [
      html`<code>data.${field.name}</code>`,
      field.type,
      field.rule,
      field.meaning[c.var.language],
    ]),
    'fields',
  );
}

function schemaPart({ c, t }: Pick<Visit, 'c' | 't'>, name: SubscribableName): Html {
  return html`<details>
    <summary>JSON Schema</summary>
    ${copyable(t, `schema-${name}`, `JSON Schema ${name}`, JSON.stringify(inLanguage(schemaOf(name), c.var.language), null, 2))}
  </details>`;
}
