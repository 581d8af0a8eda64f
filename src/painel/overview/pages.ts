/** The overview: how the partner's deliveries fare now, live. */
import type { Guard } from '../frame/guard.ts';
import { READ } from '../frame/nav.ts';
import { answerPage } from '../frame/page.ts';
import type { Streams } from '../live.ts';
import { openPulse, pulsePart } from './pulse.ts';

const PATH = '/painel/visao';

export function addOverviewPages(guard: Guard, streams: Streams): void {
  guard.show(PATH, READ, async (visit) =>
    answerPage(visit.c, { title: visit.t.frame.overview, body: await pulsePart(visit, PATH) }),
  );
  guard.show(`${PATH}/ao-vivo`, READ, (visit) => openPulse(streams, visit));
}
