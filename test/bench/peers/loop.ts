/** The hand-written loop most teams start with: one row FOR UPDATE SKIP LOCKED, held during the POST. */
import type { Contender } from '../contender.ts';
import { startPeer } from '../contender.ts';
import { bodyOf } from '../workload.ts';
import { createAttempts } from './attempts.ts';

const LOOP_SETTINGS = { connections: 16 };

export const loop: Contender = {
  id: 'loop',
  label: 'hand-written loop',
  async seed(server, database, _receiverUrl, count, webhooks) {
    await server.create(database);
    await server.on(database, async (sql) => {
      await createAttempts(sql);
      await sql`
        create table outbox (
          id uuid primary key default uuidv7(), webhook int not null, body text not null, attempts int not null default 0,
          status text not null default 'pending', next_attempt_at timestamptz not null default now()
        )`;
      await sql`create index outbox_due on outbox (next_attempt_at) where status = 'pending'`;
      await sql`
        insert into outbox (id, webhook, body, next_attempt_at)
        select id, n % ${webhooks}::int, replace(${bodyOf('$')}, '$', id::text), now() - (${count}::int - n) * interval '1 ms'
        from (select n, uuidv7() as id from generate_series(0, ${count - 1}::int) n) ids`;
      await sql`vacuum (analyze)`;
    });
  },
  start: (databaseUrl, receiverUrl) => startPeer('loop', databaseUrl, receiverUrl, LOOP_SETTINGS),
  async done(sql) {
    const [row] = await sql<[{ count: number }]>`
      select count(*)::int as count
      from outbox o join attempts a on a.delivery_id = o.id and a.outcome = 'entregue'
      where o.status = 'delivered'`;
    return row.count;
  },
};
