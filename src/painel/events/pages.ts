/** The catalogue: every event, when it fires, what of it is certain, and what a receiver gets. */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { EVENTS, RESERVED_NAMES, SUBSCRIBABLE_NAMES, type SubscribableName } from '../../contract/events.ts';
import type { Html, PainelEnv, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { prose } from '../docs/prose.ts';
import { copyable } from '../frame/parts.ts';
import { exampleOf } from './example.ts';
import { fieldTable, schemaPart } from './parts.ts';

const READ = { reader: 'partner', scope: 'webhooks:read' } as const;

export function addEventPages(app: Hono<PainelEnv>, guard: Guard): void {
  app.get(
    '/painel/eventos',
    guard.show(READ, (visit) => {
      const { c, t } = visit;
      return answerPage(c, {
        title: t.events.title,
        body: html`<p>${t.events.intro}</p>
          <p class="dim">${t.events.reserved} ${RESERVED_NAMES.map((name) => html`<code>${name}</code> `)}</p>
          ${SUBSCRIBABLE_NAMES.map((name) => event(visit, name))}`,
      });
    }),
  );
}

function event({ c, t }: Visit, name: SubscribableName): Html {
  const { guarantee, meaning } = EVENTS[name];
  const { summary, more } = meaning[c.var.language];
  return html`<details class="card" id="${name}">
    <summary>
      <code>${name}</code>
      <span class="badge${guarantee === 'guaranteed' ? ' badge-entregue' : ''}">${t.events.guarantee[guarantee]}</span>
      <span class="dim">${summary}</span>
    </summary>
    <p>${t.events.guaranteeMeaning[guarantee]}</p>
    ${more === undefined ? '' : html`<p>${prose(more)}</p>`}
    <h3>${t.events.example}</h3>
    ${copyable(t, `example-${name}`, `${t.events.example} ${name}`, JSON.stringify(exampleOf(name), null, 2))}
    <h3>${t.events.fields}</h3>
    ${fieldTable(t.events, name)} ${schemaPart(t, name)}
  </details>`;
}
