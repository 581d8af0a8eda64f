/**
 * What the order of loans costs a drain: nothing where no webhook asked for it, and what where one did. The first side has
 * neither the trigger nor the claim's question, as if there were no such option.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Sql } from '../../../src/db/pool.ts';
import { type BenchWebhook, createDatabase, insertWebhooks } from '../carteiro.ts';
import { openEngine } from '../engine.ts';
import type { Bench, Figure, Measured, Result } from '../figure.ts';
import { cpuOfServer } from '../harness/cpu.ts';
import { median } from '../harness/statistics.ts';
import { EVENT } from '../workload.ts';

const DATABASE = 'loan_order';
const WEBHOOKS = 100;
/** So that a loan's events are due one right after the other. */
const LOANS_A_COMMIT = 50;
const FUNCTION = path.resolve(import.meta.dirname, '../../../drizzle/functions/claim_due.sql');
const QUESTION = '        and (not lane.in_order or d.claimed_at is not null or d.id = any (allowed))\n';

interface Side {
  readonly name: string;
  readonly eventsALoan: number;
  readonly isInOrder: boolean;
  readonly isTakenOut?: boolean;
}

const SIDES: readonly Side[] = [
  { name: 'no such option', eventsALoan: 1, isInOrder: false, isTakenOut: true },
  { name: 'off', eventsALoan: 1, isInOrder: false },
  { name: 'on, a loan has one event', eventsALoan: 1, isInOrder: true },
  { name: 'off, a loan has four events', eventsALoan: 4, isInOrder: false },
  { name: 'on, a loan has four events', eventsALoan: 4, isInOrder: true },
];

/** So many events, the webhooks' partners in turn, each loan with as many as the side says. */
async function appendLoans(sql: Sql, webhooks: readonly BenchWebhook[], loans: number, eventsALoan: number) {
  await sql`create temporary table bench_loans as
    select n + 1 as place, gen_random_uuid() as stream, (${webhooks.map(({ partnerId }) => partnerId)}::uuid[])[1 + n % ${webhooks.length}::int] as partner
    from generate_series(0, ${loans - 1}::int) n`;
  for (let done = 0; done < loans; done += LOANS_A_COMMIT) {
    await sql`
      select append_event(stream, version, ${EVENT}, partner,
               json_build_object('emprestimo_id', stream, 'numero_emprestimo', '2026-00000001', 'motivo', 'conta encerrada'),
               'bench')
      from (
        select stream, partner, version
        from bench_loans, generate_series(0, ${eventsALoan - 1}::int) version
        where place > ${done} and place <= ${done + LOANS_A_COMMIT}
        order by place, version
      ) next`;
  }
}

/** PostgreSQL's CPU seconds for 10,000 deliveries. */
async function drain({ server, receiver, isQuick }: Bench, side: Side): Promise<number> {
  const total = isQuick ? 2_000 : 20_000;
  const url = await createDatabase(server, DATABASE);
  await server.on(DATABASE, async (sql) => {
    const paths = Array.from({ length: WEBHOOKS }, (_, index) => `/o/${index}`);
    const webhooks = await insertWebhooks(sql, receiver.url, paths);
    await sql`update lanes set in_order = ${side.isInOrder}, max_in_flight = 1000, window_size = 1000`;
    if (side.isTakenOut) {
      const source = await readFile(FUNCTION, 'utf8');
      if (!source.includes(QUESTION)) throw new Error(`claim_due.sql has no longer: ${QUESTION}`);
      await sql.unsafe(source.replace(QUESTION, ''));
      await sql`drop trigger deliveries_release_next on deliveries`;
    }
    await appendLoans(sql, webhooks, total / side.eventsALoan, side.eventsALoan);
    await sql`vacuum (analyze)`;
  });
  const engine = openEngine(url);
  try {
    const before = cpuOfServer(server.postmaster);
    while (engine.recorded() < total) {
      const { name, deliveries } = await engine.claim(512);
      engine.record(name, deliveries);
      if (deliveries.length === 0) await engine.settled();
    }
    await engine.settled();
    const cpuS = cpuOfServer(server.postmaster) - before;
    const waited = await server.on(DATABASE, (sql) => sql`select from deliveries where awaited limit 1`);
    if (waited.length > 0 !== (side.isInOrder && side.eventsALoan > 1)) throw new Error(`${side.name}: not as it says`);
    return (cpuS / total) * 10_000;
  } finally {
    await engine.close();
    await server.drop(DATABASE);
  }
}

/**
 * A claim on a lane where 1,000 loans have one delivery in flight and nine that wait, and what each such claim would take
 * if it looked at those that wait again, as it would had they stayed due.
 */
async function besideWaiting({ server, receiver, isQuick }: Bench): Promise<{ claimMs: number; judgeMs: number }> {
  const loans = isQuick ? 50 : 1_000;
  const url = await createDatabase(server, DATABASE);
  const engine = openEngine(url);
  try {
    const claims: number[] = [];
    const judgings: number[] = [];
    const [webhook] = await server.on(DATABASE, async (sql) => {
      const webhooks = await insertWebhooks(sql, receiver.url, ['/o/0']);
      await sql`update lanes set in_order = true, max_in_flight = 1000, window_size = 1000`;
      await appendLoans(sql, webhooks, loans, 10);
      await sql`vacuum (analyze)`;
      return webhooks;
    });
    // All are judged: the first of each loan is in flight, the others wait.
    for (let idle = 0; idle < 3;) idle = (await engine.claim(1_000)).deliveries.length > 0 ? 0 : idle + 1;
    for (let turn = 0; turn < 5; turn += 1) {
      await server.on(DATABASE, async (sql) => {
        await sql`insert into arrivals (webhook_id, partner_id, kind) values (${webhook?.id ?? ''}, ${webhook?.partnerId ?? ''}, 'look')`;
      });
      claims.push((await engine.claim(512)).tookMs);
      await server
        .on(DATABASE, (sql) =>
          sql.begin(async (tx) => {
            await tx`update deliveries set next_attempt_at = now() - interval '1 hour' where next_attempt_at = 'infinity'`;
            await tx`update lanes set scan_from = '-infinity'`;
            const judgedMs = performance.now();
            await tx`select hold_back(array_agg(ctid), now(), 10000) from lanes`;
            judgings.push(performance.now() - judgedMs);
            throw new Error('rolled back');
          }),
        )
        .catch(() => undefined);
    }
    return { claimMs: median(claims), judgeMs: median(judgings) };
  } finally {
    await engine.close();
    await server.drop(DATABASE);
  }
}

async function run(bench: Bench): Promise<Result> {
  const { claimMs, judgeMs } = await bench.progress.phase('beside 9,000 that wait', 300, () => besideWaiting(bench));
  bench.progress.note(`a claim beside those that wait ${claimMs.toFixed(1)} ms, judging them ${judgeMs.toFixed(0)} ms`);
  const costs = SIDES.map((): number[] => []);
  for (let round = 0; round < bench.rounds; round += 1) {
    for (const [index, side] of SIDES.entries()) {
      const cpuS = await bench.progress.phase(side.name, 120, () => drain(bench, side));
      bench.progress.note(`${side.name}: ${cpuS.toFixed(2)} s`);
      costs[index]?.push(cpuS);
    }
  }
  const measured = SIDES.map(({ name }, index): Measured => {
    return {
      id: `order_${index}`,
      label: `order of loans: ${name}, PostgreSQL for 10,000`,
      value: median(costs[index] ?? []),
      unit: 's',
      bar: null,
    };
  });
  const told = { unit: 'ms', bar: null };
  measured.push({
    id: 'order_claim',
    label: 'order of loans: a claim beside 9,000 that wait',
    value: claimMs,
    ...told,
  });
  measured.push({ id: 'order_judge', label: 'order of loans: judging those 9,000 again', value: judgeMs, ...told });
  return { measured };
}

export const order: Figure = {
  id: 'order',
  about: 'what keeping the order of loans costs a drain, where it is on and where it is off',
  run,
};
