import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { arrive, look, type MarginKey, takeOff } from '../../src/core/margin/margin-flight.ts';
import { marginQueries, type MarginDeps, type MarginFound, marginShare } from '../../src/core/margin/margin.ts';
import type { Pool } from '../../src/db/pool.ts';
import type { Provenance } from '../../src/log/append.ts';
import { type MarginAnswer, type MarginQuestion, RegistryFailure } from '../../src/registry/port.ts';
import { createTestDatabase, openPool } from '../support/database.ts';
import { poolWith } from '../support/pool-with.ts';
import { busy, gated } from '../support/registry.ts';
import { silentLog } from '../support/silent-log.ts';
import { cpfOf } from '../support/tax-ids.ts';
import { createPartner } from './loan-world.ts';

const CNPJ = '11222333000181';
const GOOD: MarginAnswer = { outcome: 'answered', earningsCentavos: 300_000, marginCentavos: 100_000 };
let partner: Provenance;
let workers = 0;
let workerCpf = '';

const database = await createTestDatabase();
beforeEach(async () => {
  partner = await createPartner(database.sql);
  workerCpf = cpfOf((workers += 1));
});

/** A registry that answers by a script and notes what it was asked. */
function scripted(answer: (question: MarginQuestion, signal: AbortSignal) => Promise<MarginAnswer>) {
  const asked: MarginQuestion[] = [];
  return {
    asked,
    queryMargin(question: MarginQuestion, signal: AbortSignal) {
      asked.push(question);
      return answer(question, signal);
    },
  };
}

const answering = (answer: MarginAnswer = GOOD) => scripted(async () => answer);

/** The pools, and how many requests have learned through them which flight had landed last. */
function countArrivals(pools: readonly Pool[]) {
  let arrived = 0;
  const counting = (pool: Pool): Pool =>
    poolWith(pool, {
      async run(work) {
        const rows = await pool.run(work);
        if (Array.isArray(rows) && rows.some((row) => 'landed' in row)) arrived += 1;
        return rows;
      },
    });
  return { pools: pools.map(counting), arrived: () => arrived };
}

/** A desk of its own stands for a process of its own: all that two share is the database. */
const desk = (deps: Partial<MarginDeps> & Pick<MarginDeps, 'registry'>) =>
  marginQueries({ pool: database.pool, log: silentLog, reuseHours: 24, leaseMs: 15_000, ...deps });
const asking = (skipCache = false) => ({ workerCpf, employerCnpj: CNPJ, skipCache });
const key = (): MarginKey => ({ partnerId: partner.partnerId, workerCpf, employerCnpj: CNPJ });
const idOf = (found: MarginFound) => ('ok' in found ? found.ok.query.id : found.refused.error);
const originOf = (found: MarginFound) => ('ok' in found ? found.ok.origin : found.refused.kind);

const eventsOf = (partnerId = partner.partnerId) => database.sql`
  select stream, version, type, data, actor, request_id from events where partner_id = ${partnerId} order by position`;
const typesOf = async () => (await eventsOf()).map(({ type }) => type as string);

describe('a margin query', () => {
  test('asks the registry once and reuses its answer: no call, no event, the whole answer', async () => {
    const registry = answering();
    const margins = desk({ registry });
    const first = await margins.query(partner, asking());
    const second = await margins.query(partner, asking());
    expect([originOf(first), originOf(second)]).toEqual(['registry', 'cache']);
    expect('ok' in second && second.ok.query).toEqual('ok' in first && first.ok.query);
    expect(registry.asked).toEqual([{ ...key(), queryId: idOf(first), requestId: null }]);
    expect(await eventsOf()).toEqual([
      {
        stream: idOf(first),
        version: 1,
        type: 'margem.concluida',
        data: {
          cpf_trabalhador: workerCpf,
          cnpj_empregador: CNPJ,
          consulta_margem_id: idOf(first),
          salario_bruto: 3000,
          margem_disponivel: 1000,
          margem_percentual: 0.3333,
        },
        actor: 'test',
        request_id: null,
      },
    ]);
  });

  test('with skipCache asks afresh, and its answer is the one that is reused from then on', async () => {
    const registry = answering();
    const margins = desk({ registry });
    const first = await margins.query(partner, asking());
    const fresh = await margins.query(partner, asking(true));
    expect([originOf(fresh), idOf(fresh) === idOf(first)]).toEqual(['registry', false]);
    expect(idOf(await margins.query(partner, asking()))).toBe(idOf(fresh));
    expect(registry.asked).toHaveLength(2);
    expect(await typesOf()).toEqual(['margem.concluida', 'margem.concluida']);
  });

  test('is reused within the window, by the database clock, and not a moment after', async () => {
    const registry = answering();
    const margins = desk({ registry, reuseHours: 2 });
    const id = idOf(await margins.query(partner, asking()));
    const age = (text: string) =>
      database.sql`update margin_queries set queried_at = now() - ${text}::interval where id = ${id}`;
    await age('1 hour 59 minutes');
    expect(originOf(await margins.query(partner, asking()))).toBe('cache');
    await age('2 hours 1 second');
    expect(originOf(await margins.query(partner, asking()))).toBe('registry');
  });

  test('is never reused when the window is 0 hours', async () => {
    const registry = answering();
    const margins = desk({ registry, reuseHours: 0 });
    await margins.query(partner, asking());
    await margins.query(partner, asking());
    expect(registry.asked).toHaveLength(2);
  });

  test('of one partner, worker and employer is not reused for another', async () => {
    const registry = answering();
    const margins = desk({ registry });
    await margins.query(partner, asking());
    await margins.query(await createPartner(database.sql), asking());
    await margins.query(partner, { ...asking(), workerCpf: cpfOf((workers += 1)) });
    await margins.query(partner, { ...asking(), employerCnpj: '00000000000191' });
    expect(registry.asked).toHaveLength(4);
  });

  test('that the service asks for itself carries its own actor and no request', async () => {
    await desk({ registry: answering() }).query({ ...partner, actor: 'proposal-assembly' }, asking());
    expect(await eventsOf()).toMatchObject([
      { type: 'margem.concluida', actor: 'proposal-assembly', request_id: null },
    ]);
  });
});

test('a negative margin is an answer like any other: kept, told and reused', async () => {
  const registry = answering({ outcome: 'answered', earningsCentavos: 300_000, marginCentavos: -12_345 });
  const margins = desk({ registry });
  const first = await margins.query(partner, asking());
  const second = await margins.query(partner, asking());
  expect([originOf(first), originOf(second)]).toEqual(['registry', 'cache']);
  expect('ok' in second && second.ok.query).toMatchObject({ earningsCentavos: 300_000, marginCentavos: -12_345 });
  expect(await eventsOf()).toMatchObject([
    { type: 'margem.concluida', data: { margem_disponivel: -123.45, margem_percentual: -0.0412 } },
  ]);
});

describe('a failed margin query', () => {
  const cases: [string, () => Promise<MarginAnswer>, string, string][] = [
    ['a refusal', async () => ({ outcome: 'refused', error: 'sem vínculo' }), 'negocial', 'sem vínculo'],
    [
      'a registry that cannot answer',
      () => Promise.reject(new RegistryFailure('503', { reported: 'manutenção' })),
      'upstream',
      'manutenção',
    ],
    ['a throw', () => Promise.reject(new Error('10.0.0.7 refused')), 'upstream', 'o registry não respondeu'],
    ['silence', () => new Promise(() => undefined), 'upstream', 'o registry não respondeu'],
  ];

  test.each(cases)('by %s says so in an event', async (_what, answer, kind, error) => {
    const margins = desk({ registry: gated(scripted(answer), { timeoutMs: 60 }) });
    expect(await margins.query(partner, asking())).toEqual({
      refused: { kind: kind === 'negocial' ? 'marginRefused' : 'marginFailed', error },
    });
    const data = { cpf_trabalhador: workerCpf, cnpj_empregador: CNPJ, tipo_erro: kind, erro: error };
    expect(await eventsOf()).toMatchObject([{ version: 1, type: 'margem.falhou', data }]);
  });

  test('is not reused: the next one asks again', async () => {
    const answers: MarginAnswer[] = [{ outcome: 'refused', error: 'sem vínculo' }, GOOD];
    const margins = desk({ registry: scripted(async () => answers.shift() ?? GOOD) });
    expect(originOf(await margins.query(partner, asking()))).toBe('marginRefused');
    expect(originOf(await margins.query(partner, asking()))).toBe('registry');
    expect(await typesOf()).toEqual(['margem.falhou', 'margem.concluida']);
  });

  test('does not take away the answer before it', async () => {
    const answers = [GOOD];
    const fails = () => Promise.reject(new RegistryFailure('fora do ar'));
    const margins = desk({ registry: scripted(async () => answers.shift() ?? (answers.push(GOOD), fails())) });
    const first = await margins.query(partner, asking());
    expect(originOf(await margins.query(partner, asking(true)))).toBe('marginFailed');
    const again = await margins.query(partner, asking());
    expect([originOf(again), idOf(again)]).toEqual(['cache', idOf(first)]);
  });

  test('that never came to ask the registry emits nothing', async () => {
    const registry = answering();
    expect(await desk({ registry: busy(registry) }).query(partner, asking())).toEqual({
      refused: { kind: 'marginFailed', error: 'o registry está sobrecarregado' },
    });
    expect([registry.asked, await eventsOf()]).toEqual([[], []]);
    expect(originOf(await desk({ registry }).query(partner, asking()))).toBe('registry');
  });
});

describe('margin queries about one worker that overlap', () => {
  test.each([false, true])('reach the registry once, in one process and in several (skipCache %s)', async (skip) => {
    const released = Promise.withResolvers<MarginAnswer>();
    const registry = scripted(() => released.promise);
    const other = openPool(database.url, { name: 'other process', max: 4 });
    await Promise.all([1, 2, 3, 4].map(() => other.run((sql) => sql`select pg_sleep(0.01)`)));
    const seen = countArrivals([database.pool, other]);
    const [here, there] = seen.pools as [Pool, Pool];
    const desks = [desk({ registry, pool: here }), desk({ registry, pool: here }), desk({ registry, pool: there })];
    const asked = Promise.all(
      Array.from({ length: 30 }, (_, index) => desks[index % 3]?.query(partner, asking(skip)) as Promise<MarginFound>),
    );
    await expect.poll(() => seen.arrived()).toBe(30);
    released.resolve(GOOD);
    const all = await asked;
    expect(registry.asked).toHaveLength(1);
    expect(new Set(all.map(idOf))).toEqual(new Set([registry.asked[0]?.queryId]));
    // The one that asked, and 29 that reached nobody.
    expect(all.map(originOf).toSorted()).toEqual([...Array.from({ length: 29 }, () => 'cache'), 'registry']);
    expect(await typesOf()).toEqual(['margem.concluida']);
  });

  test('share its failure, told in one event', async () => {
    const released = Promise.withResolvers<MarginAnswer>();
    const registry = scripted(() => released.promise);
    const seen = countArrivals([database.pool]);
    const desks = [1, 2].map(() => desk({ registry, pool: seen.pools[0] as Pool }));
    const asked = desks.flatMap((each) => [1, 2, 3].map(() => each.query(partner, asking())));
    await expect.poll(() => seen.arrived()).toBe(6);
    released.resolve({ outcome: 'refused', error: 'sem vínculo' });
    const all = await Promise.all(asked);
    expect(new Set(all.map(idOf))).toEqual(new Set(['sem vínculo']));
    expect(registry.asked).toHaveLength(1);
    expect(await typesOf()).toEqual(['margem.falhou']);
  });

  test('do not wait for queries about other workers', async () => {
    const released = Promise.withResolvers<MarginAnswer>();
    const registry = scripted(({ workerCpf: asked }) =>
      asked === workerCpf ? released.promise : Promise.resolve(GOOD),
    );
    const margins = desk({ registry });
    const slow = margins.query(partner, asking());
    const quick = await margins.query(partner, { ...asking(), workerCpf: cpfOf((workers += 1)) });
    expect(originOf(quick)).toBe('registry');
    released.resolve(GOOD);
    expect(originOf(await slow)).toBe('registry');
  });
});

test('a request that came before a landing shares it, and one that came after does not', async () => {
  const { pool } = database;
  const before = await arrive(pool, key(), 24);
  const registry = answering();
  const first = idOf(await desk({ registry }).query(partner, asking()));
  expect(await takeOff(pool, key(), before.landed, 1_000)).toBeNull();
  expect(await look(pool, key())).toMatchObject({ query: { id: first } });
  const after = await arrive(pool, key(), 24);
  expect(after).toMatchObject({ landed: first, recent: { id: first } });
  expect(await takeOff(pool, key(), after.landed, 1_000)).not.toBeNull();
  expect(await takeOff(pool, key(), after.landed, 1_000)).toBeNull();
});

describe('a process that dies with a query under way', () => {
  test('is replaced when its lease has run out, by one of those who wait', async () => {
    const startedAt = performance.now();
    await takeOff(database.pool, key(), null, 300);
    const registry = answering();
    const desks = [desk({ registry }), desk({ registry })];
    const all = await Promise.all(desks.map((each) => each.query(partner, asking())));
    expect(performance.now() - startedAt).toBeGreaterThan(250);
    expect(registry.asked).toHaveLength(1);
    expect(new Set(all.map(idOf)).size).toBe(1);
    expect(all.map(originOf).toSorted()).toEqual(['cache', 'registry']);
    expect(await typesOf()).toEqual(['margem.concluida']);
  });

  test('and comes back late changes nothing, and is given the answer of its successor', async () => {
    const late = Promise.withResolvers<MarginAnswer>();
    const stalled = scripted(() => late.promise);
    const stalling = desk({ registry: stalled, leaseMs: 1 }).query(partner, asking());
    await expect.poll(() => stalled.asked).toHaveLength(1);
    await sleep(5);
    const second = await desk({ registry: answering() }).query(partner, asking());
    late.resolve({ outcome: 'refused', error: 'too late' });
    expect(idOf(await stalling)).toBe(idOf(second));
    // It did reach the registry, but what it is given is another's answer, and no event tells of its own.
    expect([originOf(second), originOf(await stalling)]).toEqual(['registry', 'cache']);
    expect(await typesOf()).toEqual(['margem.concluida']);
  });

  test('loses no answer to a connection that is cut under its record', async () => {
    const pool = openPool(database.url, { name: 'cut margin' });
    const registry = scripted(async () => {
      await database.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cut margin'`;
      return GOOD;
    });
    expect(originOf(await desk({ registry, pool }).query(partner, asking()))).toBe('registry');
    expect(await typesOf()).toEqual(['margem.concluida']);
  });
});

test('a hanging registry holds no connection and no transaction', async () => {
  const pool = openPool(database.url, { name: 'hung margin' });
  const registry = scripted(() => new Promise(() => undefined));
  const margins = desk({ registry: gated(registry, { slots: 5, timeoutMs: 400 }), pool });
  const hanging = Array.from({ length: 20 }, () =>
    margins.query(partner, { ...asking(), workerCpf: cpfOf((workers += 1)) }),
  );
  await expect.poll(() => registry.asked.length).toBeGreaterThanOrEqual(5);
  const inTransaction = await database.sql`
    select state from pg_stat_activity where application_name = 'hung margin' and state like 'idle in transaction%'`;
  expect(inTransaction).toEqual([]);
  expect(await pool.run((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
  const all = await Promise.all(hanging);
  expect(new Set(all.map(originOf))).toEqual(new Set(['marginFailed']));
  // Those that were asked, and no others: on a slow machine a slot comes free before the last one gives up.
  expect(await typesOf()).toHaveLength(registry.asked.length);
});

test.each([
  [0, 0, null],
  [100, 0, null],
  [0, 100, 0],
  [100_000, 300_000, 0.3333],
  [200_000, 300_000, 0.6667],
  [1, 20_000, 0.0001],
  [1, 20_001, 0],
  [3, 20_000, 0.0002],
  [999_999_999_999, 999_999_999_999, 1],
  [999_999_999_999, 1, 999_999_999_999],
  [150, 100, 1.5],
  [-100_000, 300_000, -0.3333],
  [-200_000, 300_000, -0.6667],
  [-1, 20_000, -0.0001],
  [-1, 20_001, 0],
  [-999_999_999_999, 1, -999_999_999_999],
  [-100, 0, null],
])('the share of %i in %i is %s', (margin, earnings, share) => {
  expect(marginShare(margin, earnings)).toBe(share);
});
