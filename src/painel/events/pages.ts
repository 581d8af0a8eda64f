/** The catalogue: every event, when it fires, what of it is certain, and what a receiver gets. */
import type { Hono } from 'hono';
import { html } from 'hono/html';
import { RESERVED_NAMES, SUBSCRIBABLE_NAMES, type SubscribableName } from '../../contract/events.ts';
import type { Html, PainelEnv, Visit } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import { copyable } from '../frame/parts.ts';
import { exampleOf } from './example.ts';
import { eventCard } from './parts.ts';

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
          ${SUBSCRIBABLE_NAMES.map((name) => eventCard(visit, name, example(visit, name)))}`,
      });
    }),
  );
}

function example({ t }: Visit, name: SubscribableName): Html {
  const json = JSON.stringify(exampleOf(name), null, 2);
  return html`<h3>${t.events.example}</h3>
    ${copyable(t, `example-${name}`, `${t.events.example} ${name}`, json)}`;
}
