/** Every event as a receiver gets it: the request, byte for byte, and what its fields are. */
import { html } from 'hono/html';
import { EVENTS, RESERVED_NAMES, SUBSCRIBABLE_NAMES, type SubscribableName } from '../../contract/events.ts';
import { DELIVERY_HEADERS } from '../../http/openapi/events.ts';
import type { Html, PainelContext } from '../env.ts';
import { fieldTable, schemaPart } from '../events/parts.ts';
import { copyable } from '../frame/parts.ts';
import { inEnglish } from '../language/api-english.ts';
import { DOCS } from '../language/choose.ts';
import { deliveryExample, EXAMPLE_SECRET } from './delivery-example.ts';
import { paragraphs, prose } from './prose.ts';

export function eventsBody(c: PainelContext): Html {
  const { language, texts: t } = c.var;
  const { events: words } = DOCS[language];
  return html`${paragraphs(words.intro.map((text) => text.replace('SECRET', EXAMPLE_SECRET)))}
    <h2>${words.headers}</h2>
    ${headerTable(c)}
    <h2>${words.arrives}</h2>
    <p class="dim">${t.events.reserved} ${RESERVED_NAMES.map((name) => html`<code>${name}</code> `)}</p>
    ${SUBSCRIBABLE_NAMES.map((name) => event(c, name))}`;
}

function headerTable(c: PainelContext): Html {
  const { language } = c.var;
  const { events: words } = DOCS[language];
  const headers = Object.values(DELIVERY_HEADERS) as { name: string; required: boolean; description: string }[];
  return html`<div class="scroll fields" tabindex="0" role="region" aria-label="${words.headers}">
    <table>
      <thead>
        <tr>
          <th scope="col">${words.header}</th>
          <th scope="col">${words.meaning}</th>
        </tr>
      </thead>
      <tbody>
        ${headers.map(
          ({ name, required, description }) =>
            html`<tr>
              <td><code>${name}</code>${required ? '' : html` <span class="badge">${words.sometimes}</span>`}</td>
              <td>${prose(language === 'pt' ? description : inEnglish(description))}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function event(c: PainelContext, name: SubscribableName): Html {
  const { language, texts: t } = c.var;
  const { guarantee, meaning } = EVENTS[name];
  const { summary, more } = meaning[language];
  return html`<details class="card" id="${name}">
    <summary>
      <code>${name}</code>
      <span class="badge${guarantee === 'guaranteed' ? ' badge-entregue' : ''}">${t.events.guarantee[guarantee]}</span>
      <span class="dim">${summary}</span>
    </summary>
    ${more === undefined ? '' : html`<p>${prose(more)}</p>`}
    <p>${t.events.guaranteeMeaning[guarantee]}</p>
    ${copyable(t, `delivery-${name}`, `${DOCS[language].events.arrives}: ${name}`, deliveryExample(name))}
    <h3>${t.events.fields}</h3>
    ${fieldTable(t.events, name)} ${schemaPart(t, name)}
  </details>`;
}
