/** What the catalogue and the documentation both show of an event's data. */
import { html } from 'hono/html';
import type { SubscribableName } from '../../contract/events.ts';
import { schemaOf } from '../../http/openapi/event-example.ts';
import type { Html } from '../env.ts';
import { copyable } from '../frame/parts.ts';
import type { Texts } from '../language/choose.ts';
import { fieldsOf } from './example.ts';

export function fieldTable(words: Texts['events'], name: SubscribableName): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.fields} ${name}">
    <table>
      <thead>
        <tr>
          <th scope="col">${words.field}</th>
          <th scope="col">${words.type}</th>
          <th scope="col">${words.rule}</th>
        </tr>
      </thead>
      <tbody>
        ${fieldsOf(name).map(
          (field) =>
            html`<tr>
              <td><code>data.${field.name}</code></td>
              <td>${field.type}</td>
              <td>${field.rule}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

export function schemaPart(t: Texts, name: SubscribableName): Html {
  return html`<details>
    <summary>JSON Schema</summary>
    ${copyable(t, `schema-${name}`, `JSON Schema ${name}`, JSON.stringify(schemaOf(name), null, 2))}
  </details>`;
}
