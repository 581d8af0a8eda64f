/** Every event as a receiver gets it: the request, byte for byte, and what its fields are. */
import { html } from 'hono/html';
import { HEADER_EVENT, TEST_NAME, testData } from '../../contract/delivery.ts';
import { RESERVED_NAMES, SUBSCRIBABLE_NAMES, type SubscribableName } from '../../contract/events.ts';
import { deliveryHeaders } from '../../delivery/sending/headers.ts';
import { signingKey } from '../../delivery/sending/signature.ts';
import { DELIVERY_HEADERS, exampleOf } from '../../http/openapi/events.ts';
import type { Html, PainelContext } from '../env.ts';
import { eventCard } from '../events/parts.ts';
import { code, copyable, paragraphs, prose, table } from '../frame/parts.ts';
import { DOCS } from '../language/choose.ts';

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
    })}
    <h2>${words.test}: ${TEST_NAME}</h2>
    ${copyable(t, 'delivery-test', `${words.arrives}: ${TEST_NAME}`, testExample())}`;
}

function headerTable(c: PainelContext): Html {
  const { language } = c.var;
  const { events: words } = DOCS[language];
  return table(
    words.headers,
    [words.header, words.meaning],
    [
      [code(HEADER_EVENT), words.eventHeader],
      ...Object.values(DELIVERY_HEADERS).map(({ name, required, description }) => [
        html`<code>${name}</code>${required ? '' : html` <span class="badge">${words.sometimes}</span>`}`,
        prose(description[language]),
      ]),
    ],
    { wraps: true },
  );
}

/** The secret of every example; no webhook has it. */
export const EXAMPLE_SECRET = `whsec_${Buffer.from('um exemplo, nunca um segredo: 32').toString('base64')}`;
const DELIVERY_ID = '019c1402-6001-7b44-a2f8-91c3d5e7f012';
const SENT_AT = new Date('2026-01-31T12:00:00.000Z');
const LOAN_VERSION = 4;
const WEBHOOK_ID = '019c1402-5e2d-7d11-8c3b-6a4f0e9d2b70';

/** A delivery as it leaves, byte for byte: the request's line, headers and body. A verifier accepts it. */
export function deliveryExample(event: SubscribableName): string {
  const example = exampleOf(event);
  const loanVersion = 'emprestimo_id' in example.data ? LOAN_VERSION : null;
  return sent({ event, body: Buffer.from(JSON.stringify(example)), loanVersion, isTest: false });
}

function testExample(): string {
  const { timestamp, parceiro_id } = exampleOf('desembolso.liquidado');
  const start = JSON.stringify({ evento: TEST_NAME, timestamp, parceiro_id }).slice(0, -1);
  const body = `${start},"data":${testData(WEBHOOK_ID)}}`;
  return sent({ event: TEST_NAME, body: Buffer.from(body), loanVersion: null, isTest: true });
}

function sent(delivery: Omit<Parameters<typeof deliveryHeaders>[0], 'id'>): string {
  const headers = deliveryHeaders({ id: DELIVERY_ID, ...delivery }, signingKey(EXAMPLE_SECRET), null, SENT_AT);
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
  return ['POST /carteiro HTTP/1.1', 'Host: parceiro.example.com', ...lines, '', delivery.body.toString()].join('\n');
}
