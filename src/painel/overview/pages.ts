/** The overview: how the partner's deliveries fare now, live. */
import type { Hono } from 'hono';
import type { PainelEnv } from '../env.ts';
import type { Guard } from '../frame/guard.ts';
import { answerPage } from '../frame/page.ts';
import type { Streams } from '../live.ts';
import { openPulse, pulsePart } from './pulse.ts';

const READ = { reader: 'partner', scope: 'webhooks:read' } as const;
const PATH = '/painel/visao';

export function addOverviewPages(app: Hono<PainelEnv>, guard: Guard, streams: Streams): void {
  app.get(
    PATH,
    guard.show(READ, async (visit) =>
      answerPage(visit.c, { title: visit.t.overview.title, body: await pulsePart(visit, PATH) }),
    ),
  );
  app.get(
    `${PATH}/ao-vivo`,
    guard.show(READ, (visit) => openPulse(streams, visit)),
  );
}
