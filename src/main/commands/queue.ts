import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../db/pool.ts';
import { explainDelivery, FAULT_ADVICE } from '../../delivery/partner/explain.ts';
import { readBounded } from '../../admin/bounds.ts';
import { type QueueStatus, readQueue } from '../../admin/queue.ts';
import { readInteger, readUuid } from '../arguments.ts';
import { command, flag, optionOr, type Group } from '../command.ts';
import { readWorst } from '../operations/worst.ts';
import { json, operate, printResult } from '../operator.ts';
import { orMissing } from '../refused.ts';
import { untilStopped } from '../service/stop-signals.ts';
import { table } from '../table.ts';

const CLEAR = '\u001B[H\u001B[J';

const status = command({
  summary: 'show the queue: what waits, how late it is, how fast it moves, and which pollers move it',
  options: {
    lanes: optionOr('--lanes <number>', 'how many webhooks, those that are latest first', readInteger(1, 1_000), 10),
    every: optionOr('--every <seconds>', 'how often a terminal is shown it anew', readInteger(1, 3_600), 2),
    once: flag('--once', 'show it once, on a terminal too'),
    json,
  },
  help: `
On a terminal the table is shown anew until Ctrl-C; elsewhere, and with --once or --json, it is shown once. All of it comes
from the database, so it is true with every poller dead.

  pending     waiting, in flight included; counted up to 10,000 a webhook and 100,000 in all, of the 5,000 webhooks that are due
              first. With + (isExact false) there may be more
  due_for_s   how long the oldest delivery that nobody has claimed has been due
  state       saturated: it has its cap in flight, or its partner has its share. muted: webhook unmute wakes it.
              inactive: what is pending is about to be suspended. falhando: it has failed for hours, one at a time probes it
  fault       what keeps its deliveries from being sent now, on our side; shown where there is one
  seen_s_ago  since the poller's last sign of life (every 10 s), claim or record; one that was killed is listed for a day

Output: text; with --json {"at": "2026-…", "pending": 17, "isExact": true, "inFlight": 2, "oldestDueS": 4.2, "muted": 1,
"falhando": 0, "perSecond": {"attempts": 12.3, "delivered": 12, "failed": 0.3}, "lanes": [{"webhook": "0199…", "partner": "Um",
"state": "active", "pending": 17, "inFlight": 2, "dueForS": 4.2, "fault": null}], "pollers": [{"poller": "host-1-a1b2c3", "inFlight": 2,
"attemptsLastMinute": 740, "seenAgoS": 0.1}]}`,
  exits: { done: 'it was shown' },
  async run({ lanes, every, once, json }, line) {
    const isLive = process.stdout.isTTY && !once && !json;
    const show = (stopping?: AbortSignal) =>
      operate(
        line,
        async (pool: Pool) => {
          for (;;) {
            const found = await readBounded(pool, (sql) => readQueue(sql, lanes));
            printResult(line, json, found, isLive ? `${CLEAR}${textOf(found)}\nCtrl-C ends this` : textOf(found));
            if (stopping === undefined) return;
            await sleep(every * 1_000, null, { signal: stopping }).catch(() => undefined);
            if (stopping.aborted) return;
          }
        },
        { onUnknownServer: 'accept' },
      );
    await (isLive ? untilStopped(show) : show());
  },
});

function textOf(queue: QueueStatus): string {
  const { at, pending, isExact, inFlight, oldestDueS, muted, falhando, lanes, pollers } = queue;
  const { attempts, delivered, failed } = queue.perSecond;
  const hasFault = lanes.some(({ fault }) => fault !== null);
  const rounded = (number: number) => Math.round(number * 10) / 10;
  return [
    `queue at ${at.toISOString()}`,
    `${pending}${isExact ? '' : '+'} pending, ${inFlight} in flight, the oldest due for ${rounded(oldestDueS)} s; ${muted} webhooks muted, ${falhando} falhando`,
    `last minute: ${rounded(attempts)} attempts/s, ${rounded(delivered)} delivered/s, ${rounded(failed)} failed/s`,
    '',
    lanes.length === 0
      ? 'nothing is pending'
      : table(
          lanes.map(({ webhook, state, pending, inFlight, dueForS, partner, fault }) => {
            const line = { webhook, state, pending, in_flight: inFlight, due_for_s: rounded(dueForS), partner };
            return hasFault ? Object.assign(line, { fault }) : line;
          }),
        ),
    '',
    ...(hasFault ? [`a fault of ours keeps deliveries from being sent: ${FAULT_ADVICE}`, ''] : []),
    pollers.length === 0
      ? 'no poller has given a sign of life in the last day'
      : table(
          pollers.map(({ poller, inFlight, attemptsLastMinute, seenAgoS }) => {
            return { poller, in_flight: inFlight, attempts_1m: attemptsLastMinute, seen_s_ago: rounded(seenAgoS) };
          }),
        ),
  ].join('\n');
}

const explain = command({
  summary: 'why a delivery waits, in one sentence, with what proves it',
  takes: { delivery: { about: 'its id, the value of X-Webhook-Delivery', read: readUuid } },
  options: { json },
  help: `
Looks at the delivery, its webhook and lane, and the pollers that live, and tells the first reason that holds: it is over; its
partner or webhook is inactive; it is in flight, or its poller was lost; the webhook is muted; it waits for an earlier delivery of
its loan, or for its next attempt; no poller lives; the webhook is falhando, or has its window full; or it goes next. The partner
reads the same in its own words with GET /v1/entregas/{id}/espera.

Output: the sentence, then the facts, one a line; with --json {"reason": "limite_do_webhook", "pt": "…", "en": "…",
"facts": {"status": "pendente", "inFlight": 8, "window": 8, …}}.`,
  exits: { done: 'it was explained', refused: 'there is no such delivery' },
  async run({ delivery: id, json }, line) {
    const read = (pool: Pool) => pool.run((sql) => explainDelivery(sql, id, null));
    const found = orMissing(await operate(line, read, { onUnknownServer: 'accept' }), 'delivery', id);
    const facts = Object.entries(found.facts).map(([name, value]) => {
      return `  ${name}: ${value instanceof Date ? value.toISOString() : String(value)}`;
    });
    printResult(line, json, found, [found.en, ...facts].join('\n'));
  },
});

const worst = command({
  summary: 'the webhooks that are worst off: held up by a fault of ours, late, failing, saturated',
  options: { limit: optionOr('--limit <number>', 'how many', readInteger(1, 1_000), 10), json },
  help: `
The webhooks with deliveries that are late or wait for a retry; those that a fault of ours holds
up come first, then those with the most late deliveries. /metrics only
counts them, because a label for each webhook would never end. Reads indexes up to a bound, so it may be run at any load.

  overdue          due and not taken, counted up to 1,000; oldest_seconds is the age of the oldest of them
  failing          a retry waits
  saturated        the webhook's cap, or its partner's share, is in use
  fault            what keeps its deliveries from being sent now, on our side; doctor tells what to do
  failed_attempts  of the last 15 minutes; resultado is the most frequent outcome among them

Output: text; with --json [{"webhook": "0199…", "partner": "0199…", "active": true, "overdue": 120, "oldest_seconds": 95,
"failing": true, "saturated": true, "max_in_flight": 8, "failed_attempts": 44, "resultado": "tempo_esgotado", "fault": null}].`,
  exits: { done: 'the list, which is empty when no webhook is late or failing' },
  async run({ limit, json: isJson }, line) {
    const webhooks = await operate(line, (pool) => pool.transaction((tx) => readWorst(tx, limit)), {
      onUnknownServer: 'accept',
    });
    const text = webhooks.length === 0 ? 'no webhook is late or failing' : table(webhooks);
    printResult(line, isJson, webhooks, text);
  },
});

export const queue: Group = {
  about: 'what waits, and who moves it',
  commands: { status, explain, worst },
};
