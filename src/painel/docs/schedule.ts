/** The retry schedule, the outcomes and the states of a delivery, made from the pollers' constants. */
import { html } from 'hono/html';
import { TIMES_S } from '../../contract/delivery.ts';
import { durationText, type Schedule, SCHEDULES } from '../../contract/schedule.ts';
import { DELIVERY_STATUSES, OUTCOMES } from '../../contract/statuses.ts';
import type { Html, PainelContext } from '../env.ts';
import { code, paragraphs, prose, table } from '../frame/parts.ts';
import { DOCS } from '../language/choose.ts';

export function scheduleBody(c: PainelContext): Html {
  const { schedule: words } = DOCS[c.var.language];
  const retried = Object.values<Schedule>(SCHEDULES).filter(({ delaysS }) => delaysS.length > 0);
  return html`${paragraphs(words.intro.map((text) => text.replace('TIMEOUT', String(TIMES_S.response))))}
    ${retried.map((schedule) => [
      retried.length > 1 ? html`<h3>${schedule.who[c.var.language]}</h3>` : '',
      attempts(words, schedule),
    ])}
    ${paragraphs(words.last)}
    <h2>${words.paceTitle}</h2>
    ${paragraphs(words.pace)}
    <h2>${words.outcomes}</h2>
    ${meanings(words, words.outcomes, OUTCOMES, words.outcomeMeaning)}
    <h2>${words.statuses}</h2>
    ${meanings(words, words.statuses, DELIVERY_STATUSES, words.statusMeaning)}`;
}

type Words = (typeof DOCS)['pt']['schedule'];

function attempts(words: Words, { delaysS }: Schedule): Html {
  const first = [1, words.atOnce, '–'];
  const retries = delaysS.map((seconds, index) => {
    const since = delaysS.slice(0, index + 1).reduce((sum, delay) => sum + delay, 0);
    return [index + 2, durationText(seconds), durationText(since)];
  });
  return table(words.attempt, [{ number: words.attempt }, words.after, words.since], [first, ...retries]);
}

function meanings<W extends string>(words: Words, label: string, known: readonly W[], of: Record<W, string>): Html {
  const rows = known.map((word) => [code(word), prose(of[word])]);
  return table(label, [words.word, words.meaning], rows, { wraps: true });
}
