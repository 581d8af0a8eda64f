/** What the catalogue and the documentation both show of an event's data. */
import { html } from 'hono/html';
import { EVENTS, type SubscribableName } from '../../contract/events.ts';
import { inLanguage } from '../../contract/language.ts';
import { GUARANTEE_MEANING } from '../../http/openapi/texts.ts';
import type { Html, Visit } from '../env.ts';
import { badge, code, copyable, dim, prose, table } from '../frame/parts.ts';
import { fieldsOf, schemaOf } from './example.ts';

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
    fieldsOf(name).map(({ name: field, type, rule, meaning }) => [
      code(`data.${field}`),
      type,
      rule,
      meaning[c.var.language],
    ]),
    { wraps: true },
  );
}
