import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '../../../db/pool.ts';
import { table } from '../../table.ts';
import { readInteger } from '../../arguments.ts';
import { command, flag, optionOr } from '../../command.ts';
import { json, steer, tell } from '../../operator.ts';
import { takeStopSignals } from '../../service/stop-signals.ts';
import { FAULT_ADVICE } from '../../../delivery/partner/explain.ts';
import type { QueueStatus } from '../../../steering/queue.ts';

const CLEAR = '\u001B[H\u001B[J';

export const status = command({
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
    const { readQueue } = await import('../../../steering/queue.ts');
    const { readBounded } = await import('../../../steering/bounds.ts');
    const isLive = process.stdout.isTTY && !once && !json;
    const stopping = new AbortController();
    const stop = () => stopping.abort();
    if (isLive) takeStopSignals({ onStop: stop, onInsist: stop });
    await steer(
      line,
      async (pool: Pool) => {
        for (;;) {
          const found = await readBounded(pool, (sql) => readQueue(sql, lanes));
          tell(line, json, found, isLive ? `${CLEAR}${textOf(found)}\nCtrl-C ends this` : textOf(found));
          if (!isLive) return;
          await sleep(every * 1_000, null, { signal: stopping.signal }).catch(() => undefined);
          if (stopping.signal.aborted) return;
        }
      },
      { onStrange: 'accept' },
    );
  },
});

function textOf({
  at,
  pending,
  isExact,
  inFlight,
  oldestDueS,
  muted,
  falhando,
  perSecond,
  lanes,
  pollers,
}: QueueStatus): string {
  const { attempts, delivered, failed } = perSecond;
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
            return hasFault ? { ...line, fault } : line;
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
