import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readHead, writeHead } from '../../src/audit/checkpoint/checkpoint.ts';
import type { VerifyFinding } from '../../src/audit/seals/compare-rows.ts';
import { GrowingTree } from '../../src/audit/seals/tree/growing-tree.ts';
import type { TreeHead } from '../../src/audit/seals/tree/merkle.ts';
import { sealBatch, startWidth } from '../../src/audit/seals/seal.ts';
import { readLogHashes, readTreeHead } from '../../src/audit/seals/seal-log.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { keepVerdict, readStanding, readUnfinished } from '../../src/audit/seals/verdicts.ts';
import { type Verification, verifySeals } from '../../src/audit/seals/verify.ts';
import { backdateSeals } from '../support/backdated-seals.ts';
import { countSealable } from '../support/count-sealable.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { commitEvent, commitEvents, insertSubscriber } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';

let database: TestDatabase;
let partnerId: string;

async function begin(): Promise<void> {
  database = await createTestDatabase();
  ({ partnerId } = await insertSubscriber(database.sql));
}

const verify = (anchor: string | null = null) =>
  verifySeals(database.pool, { heads: anchor === null ? [] : [readHead(anchor) as TreeHead] });

async function insertAttempts(count: number): Promise<void> {
  await database.sql`
    insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim)
    select uuidv7(), 1, uuidv7(), ${partnerId}, 'entregue', 200, now(), 1, 'https://partner.example/', 'test'
    from generate_series(1, ${count}::int)`;
}

/** Seals what is there now, in one batch. */
async function sealOnce(): Promise<void> {
  await untilSettled(database.sql);
  while ((await database.pool.transaction((tx) => sealBatch(tx, { txs: 1_000_000 }))).more);
}

async function readSeals() {
  return database.sql<{ number: number; first: number; end: number; rows: number; root: Buffer }[]>`
    select number::int, first_tx::int as first, end_tx::int as end, rows, root from seals order by number`;
}

async function lastHead(): Promise<string> {
  return writeHead((await database.pool.run((sql) => readTreeHead(sql))) as TreeHead);
}

async function headOf(size: number): Promise<TreeHead | null> {
  return (await database.pool.run((sql) => GrowingTree.of(readLogHashes(sql), size))).head();
}

/** As a run that goes on keeps how far it has come. */
const keepPlace = (found: Verification) => database.pool.run((tx) => keepVerdict(tx, 0, found, false));

describe('the sealer', () => {
  beforeEach(begin);

  test('ends a turn where many rows follow on transactions without a row', async () => {
    for (let idle = 0; idle < 300; idle += 1) await database.sql`select pg_current_xact_id()`;
    // Two transactions that each have more than a turn's rows, and together more than a turn reads.
    await insertAttempts(1_070);
    await insertAttempts(1_070);
    await untilSettled(database.sql);
    const width = startWidth();
    const batches: number[] = [];
    for (let more = true; more;) {
      const batch = await database.pool.transaction((tx) => sealBatch(tx, width, { batchRows: 1_000 }));
      batches.push(batch.rows);
      ({ more } = batch);
    }
    expect(batches.reduce((sum, rows) => sum + rows, 0)).toBe(await countSealable(database.sql));
    expect((await verify()).findings).toEqual([]);
  });

  test('seals each row of a span that holds far more than a turn should, and splits no transaction', async () => {
    for (const rows of [3, 1, 9, 2, 20, 1, 4]) await insertAttempts(rows);
    await untilSettled(database.sql);
    const width = { txs: 1_000_000 };
    while ((await database.pool.transaction((tx) => sealBatch(tx, width, { batchRows: 2 }))).more);
    const rows = (await readSeals()).map((seal) => seal.rows);
    expect(rows.reduce((sum, one) => sum + one, 0)).toBe(await countSealable(database.sql));
    expect(rows).toContain(20);
    expect((await verify()).findings).toEqual([]);
  });

  test('seals every settled row once, in spans that follow each other, and has nothing left to do', async () => {
    for (let count = 0; count < 3; count += 1) {
      await commitEvents(database.sql, partnerId, 6);
      await insertAttempts(6 + count);
      await sealOnce();
    }
    const seals = await readSeals();
    expect(seals.map(({ rows }) => rows)).toEqual([12, 13, 14]);
    expect(seals[0]).toMatchObject({ number: 1, first: 0 });
    for (const [index, seal] of seals.slice(1).entries()) {
      expect(seal.first).toBe(seals[index]?.end);
    }
    expect(await sealAll(database.pool)).toEqual({ seals: 0, rows: 0 });
    expect(await verify()).toMatchObject({ seals: 3, rows: 39, findings: [] });
  });

  test('leaves alone what an open transaction could still bring below, and seals it after its commit', async () => {
    const late = await database.sql.reserve();
    await late`begin`;
    await late`insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim)
      values (uuidv7(), 1, uuidv7(), ${partnerId}, 'desconhecido', now(), 'https://late.example/', 'late')`;
    await commitEvents(database.sql, partnerId, 3);
    expect(await sealAll(database.pool)).toMatchObject({ rows: 0 });
    await late`commit`;
    late.release();
    await untilSettled(database.sql);
    expect(await sealAll(database.pool)).toMatchObject({ rows: 4 });
    expect(await verify()).toMatchObject({ rows: 4, findings: [] });
  });

  test('eight sealers at once make one chain', async () => {
    const sealers = Array.from({ length: 8 }, async () => {
      for (let batch = 0; batch < 10; batch += 1) {
        await commitEvent(database.pool, partnerId);
        await database.pool.transaction((tx) => sealBatch(tx, startWidth()));
      }
    });
    await Promise.all(sealers);
    await untilSettled(database.sql);
    await sealAll(database.pool);
    expect(await verify()).toMatchObject({ rows: 80, findings: [] });
  });

  test('rests while the last seal is young, whoever made it', async () => {
    await commitEvents(database.sql, partnerId, 1);
    await sealOnce();
    await commitEvents(database.sql, partnerId, 1);
    await untilSettled(database.sql);
    const batch = (restMs: number) => database.pool.transaction((tx) => sealBatch(tx, { txs: 1_000_000 }, { restMs }));
    expect(await batch(60_000)).toEqual({ rows: 0, more: false });
    expect((await batch(0)).rows).toBe(1);
  });

  test('goes on after the clock was set back, with times that do not', async () => {
    await insertAttempts(1);
    await sealOnce();
    const ahead = new Date(Date.now() + 365 * 86_400_000);
    await backdateSeals(database.pool, ahead);
    await insertAttempts(2);
    await untilSettled(database.sql);
    const batch = await database.pool.transaction((tx) => sealBatch(tx, { txs: 1_000_000 }, { restMs: 60_000 }));
    expect(batch.rows).toBe(2);
    expect(await database.sql`select sealed_at from seals order by number`).toEqual([
      { sealed_at: ahead },
      { sealed_at: ahead },
    ]);
  });

  test('takes a backlog in turns, and fewer transactions a turn where they hold many rows', async () => {
    const width = { txs: 4 };
    for (let count = 0; count < 12; count += 1) await insertAttempts(40);
    await untilSettled(database.sql);
    const rows = [];
    for (let more = true; more;) {
      const batch = await database.pool.transaction((tx) => sealBatch(tx, width));
      ({ more } = batch);
      if (batch.rows > 0) rows.push(batch.rows);
    }
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(480);
    expect(await verify()).toMatchObject({ seals: rows.length, rows: 480, findings: [] });
  });

  test('refuses to go on when transactions count from anew below what is sealed', async () => {
    await commitEvents(database.sql, partnerId, 1);
    await untilSettled(database.sql);
    await sealAll(database.pool);
    await database.sql`update seals set end_tx = end_tx + 1000000`;
    await expect(sealAll(database.pool)).rejects.toThrow('went back in time');
  });
});

describe('audit verify', () => {
  const batches = 4;

  let world: string;

  beforeAll(async () => {
    await begin();
    for (let count = 0; count < batches; count += 1) {
      await commitEvents(database.sql, partnerId, 5);
      await insertAttempts(5);
      await sealOnce();
    }
    world = database.url;
    await Promise.all([database.pool.close(1), database.sql.end({ timeout: 1 })]);
  });

  beforeEach(async () => {
    database = await createTestDatabase(world);
  });

  /** Rows of the second batch, whose transactions its seal spans. */
  const inSecond = () => database.sql`tx in (
    select a.tx from attempts a, seals s where s.number = 2 and xid8send(a.tx)::bigint >= s.first_tx and xid8send(a.tx)::bigint < s.end_tx
    union all
    select e.tx from events e, seals s where s.number = 2 and xid8send(e.tx)::bigint >= s.first_tx and xid8send(e.tx)::bigint < s.end_tx)`;

  const one = () => database.sql`(select min(delivery_id::text)::uuid from attempts where ${inSecond()})`;
  const anEvent = () => database.sql`(select min(id::text)::uuid from events where ${inSecond()})`;

  test.each<[string, () => Promise<unknown>, object]>([
    [
      'a changed attempt, by its column',
      () => database.sql`update attempts set status_code = 204 where ${inSecond()} and delivery_id = ${one()}`,
      { tipo: 'linha_alterada', tabela: 'attempts', colunas: [] },
    ],
    [
      'an attempt of another event',
      () => database.sql`update attempts set event_id = uuidv7() where ${inSecond()} and delivery_id = ${one()}`,
      { tipo: 'linha_alterada', tabela: 'attempts', colunas: [] },
    ],
    [
      'one changed byte of what was sent',
      () => database.sql`update events set data = (data::text || ' ')::json where ${inSecond()} and id = ${anEvent()}`,
      { tipo: 'linha_alterada', tabela: 'events', colunas: [] },
    ],
    [
      'a lowered fan-out',
      () => database.sql`update events set fan_out = 0 where ${inSecond()} and id = ${anEvent()}`,
      { tipo: 'linha_alterada', tabela: 'events', colunas: [] },
    ],
    [
      'a removed attempt',
      () => database.sql`delete from attempts where delivery_id = ${one()}`,
      { tipo: 'linhas_removidas', detalhe: '1 of its 10 rows were removed' },
    ],
    [
      'a removed batch',
      () => database.sql`
      with gone as (delete from attempts where ${inSecond()}) delete from events where ${inSecond()}`,
      { tipo: 'linhas_removidas', detalhe: '10 of its 10 rows were removed' },
    ],
    [
      'an added attempt',
      () => database.sql`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, started_at, url, claim, tx)
      select uuidv7(), 7, webhook_id, partner_id, 'desconhecido', now(), url, claim, tx from attempts where ${inSecond()} limit 1`,
      { tipo: 'linha_acrescentada', tabela: 'attempts', linha: expect.stringMatching(/^[0-9a-f-]{36}\/7$/) as string },
    ],
    [
      'a changed seal',
      () => database.sql`update seals set sealed_at = sealed_at - interval '1 day' where number = 2`,
      { tipo: 'selo_alterado' },
    ],
    [
      'a seal taken out',
      () => database.sql`set session_replication_role = replica; delete from seals where number = 2`.simple(),
      { tipo: 'selo_ausente' },
    ],
    [
      'another leaf beside the seal',
      () => database.sql`update seal_trees set leaves = sha256('x') || substring(leaves from 33) where number = 2`,
      { tipo: 'arvore_alterada' },
    ],
  ])('names the second batch: %s', async (_, tamper, found) => {
    expect((await verify()).findings).toEqual([]);
    await tamper();
    const [first] = (await verify()).findings;
    expect(first).toMatchObject({ selo: 2, ...found });
  });

  test('tells rows of an epoch that never was, and rows that have waited ten minutes for a seal', async () => {
    await insertAttempts(2);
    await database.sql`update attempts set epoch = 99 where number = 1 and xid8send(tx)::bigint >= (select max(end_tx) from seals)`;
    expect((await verify()).findings).toMatchObject([{ tipo: 'epoca_inexistente', tabela: 'attempts' }]);
    await database.sql`delete from attempts where epoch = 99`;
    await insertAttempts(1);
    expect((await verify()).findings).toEqual([]);
    await database.sql`update attempts set recorded_at = now() - interval '11 minutes'
      where xid8send(tx)::bigint >= (select max(end_tx) from seals)`;
    expect((await verify()).findings).toMatchObject([{ tipo: 'linhas_sem_selo', tabela: 'attempts' }]);
  });

  test('names a reader of CPFs without a CPF', async () => {
    await database.sql`insert into cpf_reads (actor, operation, asked) values ('ana 529.982.247-25', 'x', '{}')`;
    await sealOnce();
    await database.sql`update cpf_reads set operation = 'y'`;
    const [found] = (await verify()).findings;
    expect(found).toMatchObject({ tabela: 'cpf_reads', linha: expect.stringMatching(/^ana \*+\/\d+$/) as string });
  });

  test('goes on after a finding', async () => {
    await database.sql`update attempts set status_code = 204 where delivery_id = ${one()}`;
    await database.sql`
      delete from events where position = (select max(position) from events)`;
    expect((await verify()).findings.map(({ tipo, selo }) => [tipo, selo])).toEqual([
      ['linha_alterada', 2],
      ['linhas_removidas', 4],
    ]);
  });

  test('goes on from a head that an earlier verdict ended at, and sees that the log below it is another', async () => {
    const { head } = await verify();
    await commitEvents(database.sql, partnerId, 5);
    await sealOnce();
    expect(await verifySeals(database.pool, { since: head })).toMatchObject({ seals: 1, rows: 5, findings: [] });
    await database.sql`update seals set leaf = root where number = 1`;
    expect((await verifySeals(database.pool, { since: head })).findings).toMatchObject([{ tipo: 'ramificacao' }]);
  });

  test('a head that reaches beyond the log is no ground to go on from: the log lost what it covered', async () => {
    const { head } = await verify();
    const since = { size: (head?.size ?? 0) + 1, root: Buffer.alloc(32) };
    expect((await verifySeals(database.pool, { since })).findings).toMatchObject([{ tipo: 'ramificacao' }]);
  });

  test('a run that was cut short is gone on with: what it found stays, and what it read is not read again', async () => {
    const { sql, pool } = database;
    await sql`update attempts set status_code = 204 where delivery_id = ${one()}`;
    const whole = await verify();
    const place = { ...whole, seals: 2, rows: 10, head: await headOf(2) };
    await keepPlace(place);
    const unfinished = await pool.run((tx) => readUnfinished(tx, 0));
    expect(unfinished).toEqual(place);
    await sql`update attempts set status_code = 200 where delivery_id = ${one()}`;
    const gone = await verifySeals(pool, { unfinished });
    expect(gone).toMatchObject({ seals: batches, head: whole.head, findings: whole.findings });
    // Not of another start, not a day later, and not once the run has ended.
    expect(await pool.run((tx) => readUnfinished(tx, 1))).toBeNull();
    await sql`update verify_verdicts set checked_at = now() - interval '25 hours'`;
    expect(await pool.run((tx) => readUnfinished(tx, 0))).toBeNull();
    await keepPlace(place);
    await pool.run((tx) => keepVerdict(tx, 0, gone, true));
    expect(await pool.run((tx) => readUnfinished(tx, 0))).toBeNull();
  });

  test('tells how far it has come, seals of a part in order', async () => {
    const parts: number[] = [];
    await verifySeals(database.pool, { onPart: ({ head }) => void parts.push(head?.size ?? 0) });
    // The first seal begins in the epoch before the first.
    expect(parts.splice(0)).toEqual([1, batches]);
    await database.sql`delete from seals where number = 2`;
    await verifySeals(database.pool, { onPart: ({ head }) => void parts.push(head?.size ?? 0) });
    expect(parts).toEqual([1]);
  });

  test('what is known is the last verdict on the whole log, with those that went on from it', async () => {
    const { pool } = database;
    const standing = () => pool.run(readStanding);
    const found = await verify();
    const keep = (since: number, findings: readonly VerifyFinding[]) =>
      pool.run((tx) => keepVerdict(tx, since, { ...found, findings }, true));
    const broken = { tipo: 'linha_alterada', selo: 1, tabela: null, linha: null, colunas: [], detalhe: 'x' } as const;
    expect(await standing()).toBeNull();
    await keep(0, []);
    expect(await standing()).toMatchObject({ holds: true, findings: 0, head: found.head });
    await keep(1, [broken]);
    await keep(2, []);
    expect(await standing()).toMatchObject({ holds: false, findings: 1 });
    await keepPlace({ ...found, findings: [broken, broken] });
    expect(await standing()).toMatchObject({ holds: false, findings: 1 });
    await keep(0, []);
    expect(await standing()).toMatchObject({ holds: true, findings: 0 });
    // One of years to come is no reason for the alert on its age to be silent.
    await pool.run((sql) => sql`update verify_verdicts set checked_at = now() + interval '1 year'`);
    expect((await standing())?.ageS).toBeGreaterThan(300 * 86_400);
  });

  test('a cut tail is whole by itself, and shows against a head that was kept outside', async () => {
    const anchor = await lastHead();
    await database.sql`delete from attempts where xid8send(tx)::bigint >= (select first_tx from seals where number = ${batches})`;
    await database.sql`delete from events where xid8send(tx)::bigint >= (select first_tx from seals where number = ${batches})`;
    await database.sql`delete from seal_trees where number = ${batches}`;
    await database.sql`delete from seals where number = ${batches}`;
    expect((await verify()).findings).toEqual([]);
    const [found] = (await verify(anchor)).findings;
    expect(found).toMatchObject({ tipo: 'ramificacao', detalhe: expect.stringContaining(anchor) as string });
  });

  test('a chain made anew shows against the head', async () => {
    const anchor = await lastHead();
    await database.sql`update attempts set status_code = 204`;
    await database.sql`truncate seals, seal_trees, seal_nodes`;
    await sealOnce();
    expect((await verify()).findings).toEqual([]);
    expect((await verify(anchor)).findings).toMatchObject([{ tipo: 'ramificacao' }]);
  });
});
