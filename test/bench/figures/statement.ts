/**
 * The price of a statement: CPU of the session that runs it, hot and without waiting for the disk. One insert, the append of an
 * event with one webhook, the turn that claims its delivery, and the turn that claims 512. In turns on one server.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { claimDue } from '../../support/poll.ts';
import { SESSION_SETTINGS } from '../../../src/delivery/poller/session.ts';
import { Pool, type Tx } from '../../../src/db/pool.ts';
import { insertFanOut } from '../backlog.ts';
import { append, createDatabase, insertWebhooks } from '../carteiro.ts';
import { atMost, type Bench, type Figure, type Measured, reported } from '../figure.ts';
import { median } from '../harness/statistics.ts';
import { dataOf, pathsOf } from '../workload.ts';

const DATABASE = 'statement';
const WEBHOOKS = 100;
const FULL = 512;
/** Of so many calls the first third only warms up. */
const CALLS = 450;
const FULL_CLAIMS = 12;
const DUE_EACH = 10;

/** Runs transactions on a connection of its own, and tells how many microseconds of CPU its session took for each. */
async function openSession(url: string) {
  const settings = { ...SESSION_SETTINGS, synchronous_commit: 'off' };
  const pool = new Pool({ url, name: 'bench', max: 1, deadlineMs: 60_000, settings });
  const [{ pid }] = await pool.run((sql) => sql<[{ pid: number }]>`select pg_backend_pid() as pid`);
  const cpuUs = () => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000;
  async function timed(work: (tx: Tx) => Promise<unknown>): Promise<number> {
    const before = cpuUs();
    await pool.transaction(work);
    return cpuUs() - before;
  }
  return { timed, close: () => pool.close() };
}

function pollOf(name: string, count: number) {
  return async (tx: Tx) => {
    const { deliveries } = await claimDue(tx, name, FULL);
    if (deliveries.length !== count) throw new Error(`claimed ${deliveries.length} of ${count}`);
  };
}

/** As a record would end them. */
const endAll = (tx: Tx) => tx`
  update deliveries
  set status = 'entregue', next_attempt_at = null, finished_at = now()
  where status = 'pendente'`;

async function run({ server, receiver, progress, isQuick, rounds }: Bench): Promise<Measured[]> {
  const url = await createDatabase(server, DATABASE);
  const webhooks = await server.on(DATABASE, async (sql) => {
    await sql`create table floor (id uuid primary key, body text not null)`;
    const inserted = await insertWebhooks(sql, receiver.url, pathsOf(WEBHOOKS));
    await sql`update lanes set window_size = 64`;
    await sql`vacuum (analyze)`;
    return inserted;
  });
  const took = { insert: [] as number[], append: [] as number[], one: [] as number[], full: [] as number[] };
  const calls = isQuick ? 30 : CALLS;
  await progress.phase('statement', 300, async () => {
    for (let round = 1; round <= rounds; round += 1) {
      const [core, poller] = [await openSession(url), await openSession(url)];
      for (let call = 0; call < calls; call += 1) {
        const id = randomUUID();
        const us = {
          insert: await core.timed((tx) => tx`insert into floor (id, body) values (${id}, ${dataOf(id)})`),
          append: await core.timed((tx) => append(tx as never, id, webhooks[call % WEBHOOKS]?.partnerId ?? '')),
          one: await poller.timed(pollOf(`one/${id}`, 1)),
        };
        await core.timed(endAll);
        if (call >= calls / 3) for (const kind of ['insert', 'append', 'one'] as const) took[kind].push(us[kind]);
      }
      for (let claim = 0; claim < FULL_CLAIMS; claim += 1) {
        const ids = webhooks.map(({ id }) => id);
        for (let each = 0; each < DUE_EACH; each += 1) await core.timed((tx) => insertFanOut(tx as never, ids));
        const us = await poller.timed(pollOf(`full/${round}/${claim}`, FULL));
        await core.timed(endAll);
        if (claim >= FULL_CLAIMS / 3) took.full.push(us);
      }
      await Promise.all([core.close(), poller.close()]);
    }
  });
  await server.drop(DATABASE);
  return [
    reported('statement_insert', 'one insert', median(took.insert), 'µs'),
    reported('statement_append', 'an append with one webhook', median(took.append), 'µs', atMost(115)),
    reported('statement_one', 'the turn that claims its delivery', median(took.one), 'µs', atMost(200)),
    reported('statement_full', 'the turn that arms and claims 512', median(took.full) / 1_000, 'ms'),
  ];
}

export const statement: Figure = {
  id: 'statement',
  about: 'CPU of PostgreSQL for one append and for the turns that claim one and 512',
  run,
};
