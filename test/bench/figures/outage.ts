/**
 * After an outage: a receiver that answered 503 comes back with everything due at once and three pollers at its door.
 * It answers each POST after 20 ms, and counts the most that were open at the same time: its cap, here 8, at most.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tx } from '../../../src/db/pool.ts';
import { advanceTime } from '../../../src/delivery/partner/advance.ts';
import { setCap } from '../../../src/delivery/queue/orders/cap.ts';
import { insertBacklog } from '../backlog.ts';
import { createDatabase, insertWebhooks, startPoller } from '../carteiro.ts';
import { openPool } from '../engine.ts';
import { atMost, type Bench, type Figure, type Result } from '../figure.ts';

const DATABASE = 'outage';
const POLLERS = 3;
const CAP = 8;

async function pending(sql: Tx): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from deliveries where status = 'pendente' and next_attempt_at <= now() + interval '50 s'`;
  return row.count;
}

async function run({ server, receiver, progress, isQuick }: Bench): Promise<Result> {
  const due = isQuick ? 200 : 3_000;
  const url = await createDatabase(server, DATABASE);
  const webhook = await server.on(DATABASE, async (sql) => {
    const [only] = await insertWebhooks(sql, receiver.url, ['/out/0']);
    if (!only) throw new Error('no webhook');
    await setCap(sql, only.id, CAP);
    await insertBacklog(sql, only, due);
    return only;
  });
  await receiver.behave([{ prefix: '/out', answer: 'unavailable', delayMs: 5 }]);
  await receiver.reset();
  const pollers = await Promise.all(Array.from({ length: POLLERS }, () => startPoller(url)));
  const pool = openPool(url, 1);
  try {
    const peak = await progress.phase('outage', 120, async (tell) => {
      await receiver.reached(Math.round(due / 3));
      tell('the receiver is back, everything is due');
      await receiver.behave([{ prefix: '/out', answer: 'ok', delayMs: 20 }]);
      await pool.transaction((tx) => advanceTime(tx, webhook.partnerId, 3_600));
      while ((await pool.run(pending)) > 0) await sleep(100);
      return Math.max(...(await receiver.peaks()));
    });
    return {
      measured: [
        {
          id: 'outage_peak',
          label: 'most POSTs at once after an outage, 3 pollers',
          value: peak,
          unit: 'POSTs',
          bar: atMost(CAP),
        },
      ],
    };
  } finally {
    await Promise.all(pollers.map((poller) => poller.end('SIGTERM')));
    await pool.close();
    await receiver.behave([]);
    await server.drop(DATABASE);
  }
}

export const outage: Figure = {
  id: 'outage',
  about: 'a receiver that comes back after an outage meets at most its cap, from three pollers',
  run,
};
