/**
 * The registry's bad day: away or flapping for six hours, while workers are restarted ten times. The clock is the test's: it moves
 * each time that is due back by so many seconds. REGISTRATIONS sets how many wait; each call takes 250 ms by that clock.
 */
import { expect, test } from 'vitest';
import { readRegistration } from '../../src/core/loans/read-loan.ts';
import { registrationWorker } from '../../src/core/loans/registration-worker.ts';
import { projectBatch } from '../../src/core/projection/projector.ts';
import { BREAKER_FAILURES } from '../../src/registry/gate.ts';
import {
  NotAsked,
  type RegistrationAnswer,
  type RegistrationRequest,
  RegistryFailure,
} from '../../src/registry/port.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertPartner } from '../support/outbox.ts';
import { createRandom } from '../support/random.ts';
import { untilSettled } from '../support/settled.ts';
import { silentLog } from '../support/silent-log.ts';

const COUNT = Number(process.env['REGISTRATIONS'] ?? 500);
const SLOTS = 16;
const CALL_S = 0.25;
const OUTAGE_S = 6 * 3_600;
const LEFT_ALONE_S = 30;
/** The more rows wait, the less often they are told of the clock: 5 s late with 50,000. */
const REPORT_EVERY_S = COUNT / 10_000;
const RESTARTS = 10;
const CHUNK = 1_000;
const BACK_WITHIN_S = 15 * 60;

const database = await createTestDatabase();
const { sql, pool } = database;
const partnerId = await insertPartner(sql);

/** `count` loans whose registration was asked for. */
async function insertWaiting(count: number): Promise<void> {
  await sql`create table public.waiting as select uuidv7() as loan, uuidv7() as registration, n from generate_series(1, ${count}::int) n`;
  for (let from = 0; from < count; from += CHUNK) {
    const part = sql`(select * from public.waiting where n > ${from} and n <= ${from + CHUNK}) part`;
    await sql`
      select append_event(loan, 0, 'emprestimo.contratado', ${partnerId}, json_build_object(
               'emprestimo_id', loan, 'numero', loan, 'cpf_trabalhador', '52998224725', 'nome_trabalhador', 'Ana Souza', 'matricula', 'M-17',
               'cnpj_empregador', '11222333000181', 'tipo_assinatura', 'internal', 'entrega_documentos', 'agrupada',
               'valor_liberado', 5000.5, 'numero_parcelas', 24, 'valor_parcela', 260.1, 'consulta_margem_id', null), 'test') from ${part}`;
    // A plan of the empty table would read all of it for each event.
    if (from === 0) await sql`analyze events`;
    await sql`
      select append_event(loan, 1, 'assinatura.concluida', ${partnerId},
                          json_build_object('emprestimo_id', loan, 'tipo_assinatura', 'internal'), 'test') from ${part}`;
    await sql`
      select append_event(loan, 2, 'averbacao.solicitada', ${partnerId},
                          json_build_object('emprestimo_id', loan, 'averbacao_id', registration), 'test') from ${part}`;
  }
  await untilSettled(sql);
  while ((await projectBatch({ pool, log: silentLog })).more);
  await sql`insert into registrations (id, loan_id, partner_id) select registration, loan, ${partnerId} from public.waiting`;
}

test('away or flapping for six hours, with ten restarts, it loses nothing, asks under one key, and settles all within 15 minutes', async () => {
  await insertWaiting(COUNT);
  const random = createRandom(49);
  let now = 0;
  /** It may be asked, and answers: never in the outage's first two hours, then for a minute now and then. */
  const isUp = () => now >= OUTAGE_S || (now > 7_200 && Math.floor(now / 60) % 17 === 0);
  const keysOf = new Map<string, Set<string>>();
  const concluded = new Set<string>();
  let asked = 0;

  async function answer({ loan: { id: loanId }, registrationId }: RegistrationRequest): Promise<RegistrationAnswer> {
    asked += 1;
    keysOf.set(loanId, (keysOf.get(loanId) ?? new Set()).add(registrationId));
    if (!isUp()) throw new RegistryFailure('ECONNREFUSED');
    concluded.add(registrationId);
    // It has done its work, and the answer is lost on the way.
    if (now < OUTAGE_S && random.chance(0.3)) throw new RegistryFailure('ECONNRESET');
    return { outcome: 'concluded', protocol: `REG-${registrationId}` };
  }

  /** A process: its breaker knows nothing of the one before. */
  function startProcess() {
    let [failures, leftAloneUntil] = [0, 0];
    const isLeftAlone = () => now < leftAloneUntil;
    async function register(request: RegistrationRequest) {
      if (isLeftAlone()) throw new NotAsked('open');
      try {
        const reported = await answer(request);
        failures = 0;
        return reported;
      } catch (error) {
        failures += 1;
        if (failures >= BREAKER_FAILURES) [failures, leftAloneUntil] = [0, now + LEFT_ALONE_S];
        throw error;
      }
    }
    const registry = { register, lookUp: () => Promise.resolve(null) };
    const deps = { pool, log: silentLog, documentsDeadlineDays: 15, leaseMs: 15_000, slots: SLOTS, isLeftAlone };
    return { work: registrationWorker({ ...deps, registry }), isLeftAlone, deps };
  }

  /** By how much the clock went on since the rows were told: each telling writes all that wait. */
  let unreportedS = 0;
  const move = async (seconds: number) => {
    now += seconds;
    unreportedS += seconds;
    if (unreportedS < REPORT_EVERY_S) return;
    await sql`
      update registrations set next_try_at = next_try_at - ${unreportedS} * interval '1 second'
      where status = 'processando' and next_try_at > now()`;
    unreportedS = 0;
  };
  const left = async () =>
    (await sql<[{ left: number }]>`select count(*)::int as left from registrations where status = 'processando'`)[0]
      .left;

  let process = startProcess();
  let restarts = 0;
  let lost = 0;
  let worked = 0;
  while ((await left()) > 0) {
    if (now < OUTAGE_S && now >= (restarts + 1) * (OUTAGE_S / (RESTARTS + 1))) {
      restarts += 1;
      // It dies with calls under way, of which nobody learns anything.
      const { deps } = process;
      const silent = { register: () => Promise.reject(new Error('never told')), lookUp: () => Promise.resolve(null) };
      const dying = registrationWorker({ ...deps, pool: dyingPool(), registry: silent, isLeftAlone: () => false });
      lost += await dying.tick();
      process = startProcess();
    }
    const poll = await process.work.tick();
    worked += poll;
    const rest = now < OUTAGE_S ? LEFT_ALONE_S : 1;
    await move(poll > 0 ? CALL_S : rest);
    if (poll === 0 || worked % (SLOTS * 50) < SLOTS) await expectHonest();
  }

  /** The pool of a process that is gone once it has claimed: its claims commit, and nothing else of it does. */
  function dyingPool(): typeof pool {
    return new Proxy(pool, {
      get: (whole, name) =>
        name === 'run' ? () => Promise.reject(new Error('the process is gone')) : Reflect.get(whole, name).bind(whole),
    });
  }

  /** No event says how one ended before the registry has ended it, and it says how often each was asked. */
  async function expectHonest() {
    const early = await sql`
      select data ->> 'averbacao_id' as id from events
      where type = 'averbacao.concluida'
        and data ->> 'averbacao_id' not in (select unnest(${[...concluded]}::text[])) limit 1`;
    expect(early).toEqual([]);
  }

  expect(now - OUTAGE_S).toBeLessThanOrEqual(BACK_WITHIN_S);
  expect([restarts, lost > 0]).toEqual([RESTARTS, true]);
  const ends = await sql<{ type: string; events: number; loans: number }[]>`
    select type, count(*)::int as events, count(distinct stream)::int as loans from events
    where type like 'averbacao.%' group by type order by type`;
  expect(ends).toEqual([
    { type: 'averbacao.concluida', events: COUNT, loans: COUNT },
    { type: 'averbacao.solicitada', events: COUNT, loans: COUNT },
  ]);
  expect([keysOf.size, new Set([...keysOf.values()].map(({ size }) => size))]).toEqual([COUNT, new Set([1])]);
  const [{ tries }] = await sql<[{ tries: number }]>`select sum(tries)::int as tries from registrations`;
  // Each call is one try; of the calls that died under way nobody knows.
  expect(tries).toBe(asked + lost);
  globalThis.process.stderr.write(
    `${COUNT} registrations: ${asked} calls, settled ${((now - OUTAGE_S) / 60).toFixed(1)} minutes after the outage\n`,
  );
});

test('one that waits while the registry is left alone says so, is not counted, and is written once', async () => {
  await sql`drop table public.waiting`;
  await insertWaiting(1);
  const [{ id, loan }] = await sql<[{ id: string; loan: string }]>`select registration as id, loan from public.waiting`;
  const never = { register: () => Promise.reject(new Error('it was asked')), lookUp: () => Promise.resolve(null) };
  const worker = registrationWorker({
    pool,
    log: silentLog,
    documentsDeadlineDays: 15,
    leaseMs: 15_000,
    slots: 1,
    isLeftAlone: () => true,
    registry: never,
  });
  const read = () => sql`select xmin::text, tries from registrations where id = ${id}`;
  expect(await worker.tick()).toBe(0);
  const first = await read();
  expect(await worker.tick()).toBe(0);
  expect(await read()).toEqual(first);
  expect(await readRegistration(pool, partnerId, loan)).toMatchObject({
    status: 'processando',
    tentativas: 0,
    ultima_resposta: 'o registry não foi consultado: espera a vez',
    proxima_tentativa_em: expect.stringMatching(/Z$/) as string,
  });
});
