import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { readRegistration } from '../../src/core/loans/read-loan.ts';
import { registrationWorker, type RegistrationWorkerDeps } from '../../src/core/loans/registration-worker.ts';
import { recordRegistration, requestRegistration } from '../../src/core/loans/registration.ts';
import { concludeSigning } from '../../src/core/loans/steps.ts';
import type { LogFields } from '../../src/log-lines.ts';
import {
  NotAsked,
  type Pending,
  type RegistrationAnswer,
  type RegistrationRequest,
  RegistryFailure,
} from '../../src/registry/port.ts';
import { answerNextRegistration } from '../../src/registry/simulated.ts';
import { gated, scriptedRegistry, startRegistry } from '../support/registry.ts';
import { silentLog } from '../support/silent-log.ts';
import { accepted, createPartner, eventTypes, issueLoan, useOnePartner } from './loan-world.ts';
import { openPool } from '../support/database.ts';

const { database, partner } = await useOnePartner();
const { pool, sql } = database;
const simulated = await startRegistry(database.pool);
beforeEach(async () => {
  await database.sql`update registrations set next_try_at = 'infinity' where status = 'processando'`;
});

async function newRequested(): Promise<{ loanId: string; registrationId: string }> {
  const { id: loanId } = await issueLoan(database.pool, partner);
  await accepted(concludeSigning(database.pool, partner, loanId));
  return { loanId, registrationId: await ask(loanId) };
}

async function ask(loanId: string): Promise<string> {
  const { registration } = await accepted(requestRegistration(database.pool, partner, loanId));
  return registration?.id ?? '';
}

const latest = (loanId: string) => readRegistration(database.pool, partner.partnerId, loanId);
const worker = (deps: Partial<RegistrationWorkerDeps> = {}) =>
  registrationWorker({
    pool: database.pool,
    ...simulated,
    log: silentLog,
    documentsDeadlineDays: 15,
    ...deps,
  });
/** A turn, after which it is asked again within so many seconds, and not before more than half of them: it began in the turn. */
async function expectPause(worker: { tick(): Promise<number> }, id: string, pauseS: number): Promise<void> {
  const [{ before }] = await database.sql<[{ before: string }]>`select clock_timestamp()::text as before`;
  await worker.tick();
  const [row] = await database.sql`
    select next_try_at <= clock_timestamp() + ${pauseS} * interval '1 second' as is_soon,
           next_try_at > ${before}::text::timestamptz + ${pauseS / 2} * interval '1 second' as is_late
    from registrations where id = ${id}`;
  expect([pauseS, row]).toEqual([pauseS, { is_soon: true, is_late: true }]);
}

const makeDue = () => database.sql`update registrations set next_try_at = now() where next_try_at < 'infinity'`;

describe('a registration', () => {
  test('is asked in the transaction of its fact, and concluded by the worker', async () => {
    const { loanId, registrationId } = await newRequested();
    expect(await latest(loanId)).toMatchObject({ id: registrationId, status: 'processando', concluida_em: null });
    expect(await worker().tick()).toBe(1);
    expect(await latest(loanId)).toMatchObject({
      status: 'concluida',
      protocolo_registry: expect.stringMatching(/^REG-[0-9A-F]{16}$/),
      erro: null,
    });
    expect((await eventTypes(database.sql, loanId)).slice(-2)).toEqual(['averbacao.solicitada', 'averbacao.concluida']);
    expect(await worker().tick()).toBe(0);
  });

  test('that fails leaves aguardando_averbacao, and the next one concludes', async () => {
    const { loanId } = await newRequested();
    await answerNextRegistration(sql, loanId, 'margem insuficiente');
    await worker().tick();
    expect(await latest(loanId)).toMatchObject({ status: 'falhou', erro: 'margem insuficiente' });
    expect(await sql`select from loans where id = ${loanId} and status = 'aguardando_averbacao'`).toHaveLength(1);
    const again = await ask(loanId);
    await worker().tick();
    expect(await latest(loanId)).toMatchObject({ id: again, status: 'concluida' });
  });

  test('that waits tells the partner how often it was asked, what came of it and when it is asked again', async () => {
    const { loanId } = await newRequested();
    expect(await latest(loanId)).toMatchObject({ tentativas: 0, ultima_resposta: null });
    const away = () => Promise.reject(new RegistryFailure('ECONNREFUSED'));
    await worker({ registry: scriptedRegistry(away) }).tick();
    expect(await latest(loanId)).toMatchObject({
      status: 'processando',
      tentativas: 1,
      ultima_resposta: 'o registry não respondeu',
      proxima_tentativa_em: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    await makeDue();
    await worker().tick();
    expect(await latest(loanId)).toMatchObject({ status: 'concluida', tentativas: 2, proxima_tentativa_em: null });
  });

  test('is not asked twice at once, and the refused request leaves no work', async () => {
    const { loanId } = await newRequested();
    const refused = await requestRegistration(database.pool, partner, loanId);
    expect(refused).toMatchObject({ refused: { kind: 'loanState', why: 'com uma averbação em processamento' } });
    expect(await database.sql`select from registrations where loan_id = ${loanId}`).toHaveLength(1);
  });

  test('opens the documents obligation fifteen days ahead in the deferred flow', async () => {
    const deferred = await createPartner(sql, { signing: 'externa', documents: 'diferida' });
    const { id } = await issueLoan(pool, deferred, 'deferred');
    await accepted(requestRegistration(pool, deferred, id));
    await worker().tick();
    expect(await eventTypes(sql, id)).toEqual([
      'emprestimo.contratado',
      'assinatura.pendente',
      'averbacao.solicitada',
      'averbacao.concluida',
      'docs_registry.pendente',
    ]);
    const [row] = await sql`
      select (data ->> 'prazo')::date - (occurred_at at time zone 'America/Sao_Paulo')::date as days
      from events where stream = ${id} and type = 'docs_registry.pendente'`;
    expect(row).toEqual({ days: 15 });
  });
});

describe('a worker', () => {
  test('that dies between the answer and its record is replaced: same reference, same answer, one outcome', async () => {
    const { loanId, registrationId } = await newRequested();
    await answerNextRegistration(database.sql, loanId, 'recusada');
    const dying = openPool(database.url, { name: 'dying' });
    const asked: string[] = [];
    const registry = {
      ...simulated.registry,
      register: async (request: RegistrationRequest, signal: AbortSignal) => {
        asked.push(request.registrationId);
        const answer = await simulated.registry.register(request, signal);
        await dying.close(0);
        return answer;
      },
    };
    expect(await worker({ pool: dying, registry }).tick()).toBe(1);
    expect(await latest(loanId)).toMatchObject({ status: 'processando' });
    await answerNextRegistration(database.sql, loanId, 'told later, for the next registration');
    expect(await worker().tick()).toBe(0);
    await makeDue();
    expect(await worker().tick()).toBe(1);
    expect(asked).toEqual([registrationId]);
    expect(await latest(loanId)).toMatchObject({ status: 'falhou', erro: 'recusada' });
  });

  test('that outlived its lease changes nothing', async () => {
    const { loanId, registrationId } = await newRequested();
    const answered = Promise.withResolvers<RegistrationAnswer>();
    const slow = scriptedRegistry(() => answered.promise);
    const first = worker({ registry: slow }).tick();
    await expect.poll(() => slow.asked).toEqual([registrationId]);
    await makeDue();
    await worker().tick();
    answered.resolve({ outcome: 'failed', error: 'too late' });
    await first;
    expect(await latest(loanId)).toMatchObject({ status: 'concluida', erro: null });
    const types = await eventTypes(database.sql, loanId);
    expect(types.filter((type) => type === 'averbacao.concluida' || type === 'averbacao.falhou')).toHaveLength(1);
  });

  test('asks again with the same reference, after a pause, when the registry throws or is silent', async () => {
    const { loanId, registrationId } = await newRequested();
    const { promise: never } = Promise.withResolvers<RegistrationAnswer>();
    const answers = [() => Promise.reject(new Error('ECONNREFUSED')), () => never];
    const registry = scriptedRegistry(() => answers.shift()?.() ?? never);
    const unlucky = worker({ registry: gated(registry, { timeoutMs: 30 }) });
    await expectPause(unlucky, registrationId, 1);
    await makeDue();
    await expectPause(unlucky, registrationId, 2);
    await makeDue();
    await worker().tick();
    expect(registry.asked).toEqual([registrationId, registrationId]);
    expect(await latest(loanId)).toMatchObject({ id: registrationId, status: 'concluida' });
  });

  test('that lost its lease does not touch the lease of the next', async () => {
    const { registrationId } = await newRequested();
    const first = Promise.withResolvers<RegistrationAnswer>();
    const second = Promise.withResolvers<RegistrationAnswer>();
    const calls = [first.promise, second.promise];
    const registry = scriptedRegistry(() => calls.shift() ?? Promise.reject(new Error('asked too often')));
    const dueAt = () => database.sql`select next_try_at, tries from registrations where id = ${registrationId}`;
    const losing = worker({ registry }).tick();
    await expect.poll(() => registry.asked).toHaveLength(1);
    await makeDue();
    const holding = worker({ registry }).tick();
    await expect.poll(() => registry.asked).toHaveLength(2);
    const lease = await dueAt();
    first.reject(new Error('ECONNRESET'));
    await losing;
    expect(await dueAt()).toEqual(lease);
    second.resolve({ outcome: 'concluded', protocol: 'REG-1' });
    await holding;
  });

  test('among others never asks for what another has claimed', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, newRequested));
    const registry = scriptedRegistry(async ({ registrationId }) => {
      await sleep(5);
      return { outcome: 'concluded', protocol: `REG-${registrationId}` };
    });
    const workers = [worker({ registry }), worker({ registry }), worker({ registry })];
    const claimed = await Promise.all(workers.map((each) => each.tick()));
    expect(claimed.reduce((sum, each) => sum + each, 0)).toBe(12);
    expect(registry.asked.toSorted()).toEqual(all.map(({ registrationId }) => registrationId).toSorted());
  });

  test('that runs ends a registration that is asked meanwhile, and stops when told', async () => {
    const stop = new AbortController();
    const running = worker().run(stop.signal);
    await sleep(30);
    const { loanId } = await newRequested();
    const status = async () => (await latest(loanId))?.status;
    await expect.poll(status).toBe('concluida');
    stop.abort();
    await running;
  });

  test('that runs outlives a database that cuts its connections', async () => {
    const pool = openPool(database.url, { name: 'cut', max: 2 });
    const stop = new AbortController();
    const running = worker({ pool }).run(stop.signal);
    await sleep(30);
    await database.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cut'`;
    const { loanId } = await newRequested();
    const status = async () => (await latest(loanId))?.status;
    await expect.poll(status).toBe('concluida');
    stop.abort();
    await running;
  });
});

test('a second answer to one registration is rejected, whichever it is', async () => {
  const { loanId, registrationId } = await newRequested();
  const end = { loanId, registrationId, documentsDeadlineDays: 15 };
  const answers: RegistrationAnswer[] = [
    { outcome: 'concluded', protocol: 'REG-2' },
    { outcome: 'failed', error: 'recusada' },
  ];
  const all = await Promise.all(
    answers.map((answer) => recordRegistration(database.pool, partner, { ...end, answer })),
  );
  expect(all.filter((handled) => 'ok' in handled)).toHaveLength(1);
  expect(all.filter((handled) => 'refused' in handled)).toHaveLength(1);
});

describe('a registry that takes its time', () => {
  const nextIn = async (id: string) => {
    const [row] = await database.sql<[{ s: number; pending: boolean; failures: number }]>`
      select extract(epoch from next_try_at - now())::float8 as s, pending, failures from registrations where id = ${id}`;
    return row;
  };

  test('is asked what became of it, when it said so; what it never knew is asked for again', async () => {
    const { loanId, registrationId } = await newRequested();
    const calls: string[] = [];
    const lookedUp: (RegistrationAnswer | Pending | null)[] = [
      { outcome: 'pending', askAgainMs: 1_000 },
      null,
      { outcome: 'concluded', protocol: `REG-${registrationId}` },
    ];
    const registry = {
      register: async (): Promise<Pending> => (calls.push('POST'), { outcome: 'pending', askAgainMs: 300_000 }),
      lookUp: async () => (calls.push('GET'), lookedUp.shift() ?? null),
    };
    const patient = worker({ registry });
    await patient.tick();
    const first = await nextIn(registrationId);
    expect(first).toMatchObject({ pending: true, failures: 0 });
    expect(first.s).toBeGreaterThan(60);
    for (let poll = 0; poll < 4; poll += 1) {
      await makeDue();
      await patient.tick();
    }
    expect(calls).toEqual(['POST', 'GET', 'GET', 'POST', 'GET']);
    expect(await latest(loanId)).toMatchObject({ status: 'concluida', protocolo_registry: `REG-${registrationId}` });
  });

  test('is asked again after 1 s, doubled to 5 minutes; a breaker that is open counts for nothing', async () => {
    const { registrationId } = await newRequested();
    let failure: Error = new RegistryFailure('POST /averbacoes: answered 500');
    const unlucky = worker({ registry: scriptedRegistry(() => Promise.reject(failure)) });
    for (const [index, pauseS] of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].entries()) {
      await makeDue();
      await expectPause(unlucky, registrationId, pauseS);
      expect((await nextIn(registrationId)).failures).toBe(index + 1);
    }
    failure = new NotAsked('open');
    await makeDue();
    await unlucky.tick();
    expect((await nextIn(registrationId)).failures).toBe(11);
  });
});

test('a protocol that another registration has is not believed, and nothing is half done', async () => {
  const [first, second] = [await newRequested(), await newRequested()];
  const lying = scriptedRegistry(async () => ({ outcome: 'concluded', protocol: 'THE-ONLY-ONE' }));
  const reported: string[] = [];
  const log = { ...silentLog, warn: (fields: LogFields) => void reported.push(String(fields['reason'])) };
  await worker({ registry: lying, log }).tick();
  const statuses = [(await latest(first.loanId))?.status ?? '', (await latest(second.loanId))?.status ?? ''];
  expect(statuses.toSorted()).toEqual(['concluida', 'processando']);
  expect(reported).toEqual(['the registry gave a protocolo_registry that another registration has']);
  const loser = statuses[0] === 'processando' ? first : second;
  expect((await eventTypes(database.sql, loser.loanId)).at(-1)).toBe('averbacao.solicitada');
  await makeDue();
  await worker().tick();
  expect((await latest(loser.loanId))?.status).toBe('concluida');
});

describe('a registration that our worker began and another core ended', () => {
  /** Another core ends it while our call is under way; then the registry answers ours. */
  async function lose(type: string, data: object, answer: RegistrationAnswer) {
    const { loanId, registrationId } = await newRequested();
    const asked = Promise.withResolvers<RegistrationAnswer>();
    const slow = scriptedRegistry(() => asked.promise);
    const lines: { level: string; fields: LogFields }[] = [];
    const at = (level: string) => (fields: LogFields) => void lines.push({ level, fields });
    const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
    const losing = worker({ registry: slow, log }).tick();
    await expect.poll(() => slow.asked).toEqual([registrationId]);
    const whole = JSON.stringify({ emprestimo_id: loanId, averbacao_id: registrationId, ...data });
    const [{ version }] = await database.sql<[{ version: number }]>`
      select max(version) as version from events where stream = ${loanId}`;
    await database.sql`
      select append_event(${loanId}, ${version}, ${type}, ${partner.partnerId}, ${whole}::text::json, 'outside-core')`;
    asked.resolve(answer);
    await losing;
    const ends = (await eventTypes(database.sql, loanId)).filter((name) => /^averbacao.(concluida|falhou)$/.test(name));
    const [row] = await database.sql`
      select status, next_try_at, contradiction from registrations where id = ${registrationId}`;
    return { ends, row, line: lines.at(-1) };
  }

  test('has that one result; the worker learns which and whose', async () => {
    const { ends, row, line } = await lose(
      'averbacao.concluida',
      { protocolo_registry: 'P-same' },
      { outcome: 'concluded', protocol: 'P-same' },
    );
    expect(ends).toEqual(['averbacao.concluida']);
    expect(row).toEqual({ status: 'concluida', next_try_at: null, contradiction: null });
    expect(line).toMatchObject({ level: 'warn', fields: { endedAs: 'averbacao.concluida', endedBy: 'outside-core' } });
  });

  test.each<[string, string, object, RegistrationAnswer]>([
    ['a failure', 'averbacao.falhou', { erro: 'x' }, { outcome: 'concluded', protocol: 'P-lost' }],
    [
      'another protocol',
      'averbacao.concluida',
      { protocolo_registry: 'P-a' },
      { outcome: 'concluded', protocol: 'P-b' },
    ],
    ['a conclusion', 'averbacao.concluida', { protocolo_registry: 'P-c' }, { outcome: 'failed', error: 'não' }],
  ])('stands against the registry (%s), and the answer is kept for a person', async (_, type, data, answer) => {
    const { ends, row, line } = await lose(type, data, answer);
    expect(ends).toEqual([type]);
    expect(row).toMatchObject({ next_try_at: null, contradiction: answer });
    expect(line).toMatchObject({
      level: 'error',
      fields: { endedAs: type, endedBy: 'outside-core', contradicts: true },
    });
  });
});

test('another core that ends it second is refused with CT409, which names the first end', async () => {
  const { loanId, registrationId } = await newRequested();
  await worker().tick();
  const data = JSON.stringify({ emprestimo_id: loanId, averbacao_id: registrationId, erro: 'recusada' });
  const second = database.sql`
    select append_event(${loanId}, (select max(version) from events where stream = ${loanId}), 'averbacao.falhou',
                        ${partner.partnerId}, ${data}::text::json, 'outside-core')`;
  await expect(second).rejects.toMatchObject({
    code: 'CT409',
    message: `registration ${registrationId} has ended: averbacao.concluida, version 4, by registration-worker`,
  });
  const ours = await recordRegistration(database.pool, partner, {
    loanId,
    registrationId,
    answer: { outcome: 'failed', error: 'x' },
    documentsDeadlineDays: 15,
  });
  expect(ours).toMatchObject({
    refused: { kind: 'loanState', why: expect.stringMatching(/^e ela já foi concluída com o protocolo REG-/) },
  });
});
