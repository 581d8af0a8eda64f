/** Every event as a receiver gets it: the request, byte for byte, and what its fields are. */
import { html } from 'hono/html';
import { HEADER_EVENT } from '../../contract/delivery.ts';
import { RESERVED_NAMES, SUBSCRIBABLE_NAMES } from '../../contract/events.ts';
import { DELIVERY_HEADERS } from '../../http/openapi/events.ts';
import type { Html, PainelContext } from '../env.ts';
import { eventCard } from '../events/parts.ts';
import { copyable, table } from '../frame/parts.ts';
import { DOCS } from '../language/choose.ts';
import { deliveryExample, EXAMPLE_SECRET } from './delivery-example.ts';
import { paragraphs, prose } from './prose.ts';

export function eventsBody(c: PainelContext): Html {
  const { language, texts: t } = c.var;
  const { events: words } = DOCS[language];
  return html`${paragraphs(words.intro.replace('SECRET', EXAMPLE_SECRET))}
    <h2>${words.headers}</h2>
    ${headerTable(c)}
    <h2>${words.arrives}</h2>
    <p class="dim">${t.events.reserved} ${RESERVED_NAMES.map((name) => html`<code>${name}</code> `)}</p>
    ${SUBSCRIBABLE_NAMES.map((name) => {
      const arrives = copyable(t, `delivery-${name}`, `${words.arrives}: ${name}`, deliveryExample(name));
      return eventCard({ c, t }, name, arrives);
    })}`;
}

function headerTable(c: PainelContext): Html {
  const { language } = c.var;
  const { events: words } = DOCS[language];
  return table(
    words.headers,
    [words.header, words.meaning],
    [
      [html`<code>${HEADER_EVENT}</code>`, words.eventHeader],
      ...Object.values(DELIVERY_HEADERS).map(({ name, required, description }) => [
        html`<code>${name}</code>${required ? '' : html` <span class="badge">${words.sometimes}</span>`}`,
        prose(description[language]),
      ]),
    ],
    'fields',
  );
}
