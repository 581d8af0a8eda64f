/** A lender's first day: a year of loans comes in silently, and they live on. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addUp } from '../../src/audit/add-up-balance.ts';
import { readBalance } from '../../src/audit/balance.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { dayOf } from '../../src/contract/calendar.ts';
import { importHistory, type ImportOptions } from '../../src/core/history/import-history.ts';
import { eraseAll } from '../../src/core/workers/erase.ts';
import { orderErasure } from '../../src/core/workers/order-erasure.ts';
import { workerKeyOf } from '../../src/core/workers/worker-key.ts';
import { readLoan } from '../../src/core/loans/read-loan.ts';
import { rebuildLoans } from '../../src/core/projection/rebuild.ts';
import { countSettled } from '../../src/core/settlement/installments.ts';
import { closeSettlement } from '../../src/core/settlement/settlement.ts';
import { type FeedCursor, readFeed, whereToGoOn } from '../../src/log/feed.ts';
import { findStart } from '../../src/log/feed-start.ts';
import { projectBatch } from '../../src/core/projection/projector.ts';
import type { Sql, Tx } from '../../src/db/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type HistoryEvent, idOf, linesOf, loanHistory, yearOfHistory } from '../support/history.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';
import { silentLog } from '../support/silent-log.ts';
import { cpfOf } from '../support/tax-ids.ts';

const NOW = new Date();
const KEY = workerKeyOf(Buffer.alloc(32, 3));
const DAY_MS = 86_400_000;
const BEGUN = new Date(NOW.getTime() - 100 * DAY_MS);

let database: TestDatabase;
let partnerId: string;
beforeAll(async () => void (database = await createTestDatabase()));
beforeEach(async () => {
  partnerId = await insertPartner(database.sql);
  await insertWebhook(database.sql, partnerId, 'https://partner.example/', [
    'desembolso.liquidado',
    'averbacao.concluida',
  ]);
});

async function* chunks(text: string | Buffer, size = 997): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const run = (text: string | Buffer, options: Partial<ImportOptions> = {}) =>
  importHistory({ pool: database.pool, log: silentLog }, chunks(text), {
    batch: 7,
    rate: 0,
    closedUntil: null,
    ...options,
  });

const loan = (index: number, seed = partnerId) => loanHistory(partnerId, index, BEGUN, seed);

describe('history', () => {
  test('comes in whole, marked, without a delivery, and once, however often it is given', async () => {
    const text = linesOf(yearOfHistory(partnerId, 20, NOW, partnerId));
    expect(await run(text)).toMatchObject({ line: 100, events: 100, appended: 100, stopped: null });
    const read = () => database.sql`
      select stream, version, type, data::text, occurred_at, actor, fan_out, imported, loan_version
      from events where partner_id = ${partnerId} order by position`;
    const before = await read();
    expect(before).toHaveLength(100);
    expect(before[4]).toMatchObject({ version: 5, loan_version: 5, fan_out: 0, imported: true, actor: 'import' });
    expect(before[0]).toMatchObject({ loan_version: null, fan_out: null, imported: true });
    expect(await run(text, { batch: 30 })).toMatchObject({ appended: 0, stopped: null });
    expect(await read()).toEqual(before);
    expect(await database.sql`select from deliveries where partner_id = ${partnerId}`).toEqual([]);
    expect(await database.sql`select from pending where partner_id = ${partnerId}`).toEqual([]);
  });

  test('mixed by streams and cut anywhere gives the same log, begun again', async () => {
    const events = [...yearOfHistory(partnerId, 12, NOW, partnerId)].toSorted(
      (one, other) => one.version - other.version,
    );
    const text = linesOf(events);
    for (const cut of [0.2, 0.55, 0.9, 1]) {
      async function* interrupted() {
        yield* chunks(text.slice(0, Math.floor(text.length * cut)));
        if (cut < 1) throw new Error('the machine went down');
      }
      const options = { batch: 5, rate: 0, closedUntil: null };
      const running = importHistory({ pool: database.pool, log: silentLog }, interrupted(), options);
      const end = await running.then(
        () => 'the end',
        (error: Error) => error.message,
      );
      expect(end).toBe(cut < 1 ? 'the machine went down' : 'the end');
    }
    const rows = await database.sql<{ stream: string; version: number; type: string }[]>`
      select stream, version, type from events where partner_id = ${partnerId} order by stream, version`;
    const wanted = events.map(({ stream, version, type }) => ({ stream, version, type }));
    expect(rows).toHaveLength(60);
    expect([...rows].map((row) => JSON.stringify(row)).toSorted()).toEqual(
      wanted.map((row) => JSON.stringify(row)).toSorted(),
    );
  });

  test('of a worker who was erased since counts as there, and stays erased', async () => {
    const of = (index: number, cpf: string) => {
      const [first, ...rest] = loan(index) as [HistoryEvent, ...HistoryEvent[]];
      return [{ ...first, data: { ...first.data, cpf_trabalhador: cpf } }, ...rest];
    };
    const erased = of(20, cpfOf(900_000_020));
    const [first] = erased;
    // What is no usual payload is looked at more closely.
    Object.assign(erased[4]?.data as object, { data_liberacao: '2026-01-31' });
    const other = of(21, cpfOf(900_000_021));
    await run(linesOf([...erased, ...other.slice(0, 3)]));
    await untilSettled(database.sql);
    // The projection comes behind what is erased, or it makes the loan that is taken away below.
    await run('');
    const order = { actor: 'test', reason: 'x', courtOrder: '0001', years: 5 };
    const ordered = await orderErasure(database.pool, KEY, { ...order, cpf: cpfOf(900_000_020) });
    expect(ordered).toMatchObject({ ok: { events: 5 } });
    await eraseAll(database.pool);
    await database.sql`delete from loans where id = ${first?.stream ?? ''}`;
    const again = await run(linesOf([...erased, ...other]), { batch: 10 });
    expect(again).toMatchObject({ line: 10, appended: 2, stopped: null });
    await untilSettled(database.sql);
    await run('');
    const read = () => database.sql`
      select version, state ->> 'workerName' as name from loans
      where id = any (${[first?.stream ?? '', other[0]?.stream ?? '']}::uuid[]) order by name desc`;
    expect(await read()).toEqual([{ version: 5, name: 'Ana Souza' }]);
    await rebuildLoans(database.pool, silentLog, { repair: true });
    expect(await read()).toEqual([
      { version: 5, name: 'apagado' },
      { version: 5, name: 'Ana Souza' },
    ]);
    const next = { ...erased[1], version: 6, occurred_at: erased[4]?.occurred_at };
    expect((await run(linesOf([next]))).stopped?.reason).toBe('version: 5 is of a worker who was erased');
  });

  test('makes loans that are read, at any version, folded as they are by rebuild, and go on with their next event', async () => {
    await run(linesOf(loan(0)));
    const { stream } = loan(0)[0] as { stream: string };
    expect(await readLoan(database.pool, partnerId, stream)).toMatchObject({ status: 'desembolsada', version: 5 });
    expect(await readLoan(database.pool, partnerId, stream, 2)).toMatchObject({ status: 'aguardando_averbacao' });
    const [row] = await database.sql`select status, version from loans where id = ${stream}`;
    expect(row).toEqual({ status: 'desembolsada', version: 5 });
    expect((await rebuildLoans(database.pool, silentLog, { repair: false })).differences).toEqual([]);
    const [{ event_id: event }] = await database.sql<[{ event_id: string }]>`
      select * from append_event(${stream}, 5, 'averbacao.concluida', ${partnerId}, ${JSON.stringify({
        emprestimo_id: stream,
        averbacao_id: idOf('later'),
        protocolo_registry: 'REG-2',
      })}::text::json, 'core')`;
    expect(await database.sql`select version, loan_version, fan_out, imported from events where id = ${event}`).toEqual(
      [{ version: 6, loan_version: 6, fan_out: 1, imported: false }],
    );
    const again = await run(linesOf(loan(0)));
    expect(again).toMatchObject({ appended: 0, stopped: null });
  });

  test('is under the seals, and verify and the balance find it in order', async () => {
    await database.sql`
      insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
      select id, partner_id, url, events, active, 'test' from webhooks where partner_id = ${partnerId}`;
    await run(linesOf(loan(1)));
    await untilSettled(database.sql);
    await sealAll(database.pool);
    expect((await verifySeals(database.pool, {})).findings).toEqual([]);
    const day = dayOf(new Date(BEGUN.getTime() + 2 * DAY_MS));
    const balance = await addUp(readBalance(database.pool, day, day), day, day, 10);
    expect(balance).toMatchObject({ fecha: true, diferencas: [], total: { eventos: 0, esperadas: 0 } });
    const line = balance.linhas.find(({ parceiro_id: id }) => id === partnerId);
    expect(line).toMatchObject({ eventos: 0, esperadas: 0 });
    expect(line?.importados).toBeGreaterThan(0);
    await database.sql`update events set imported = false where stream = ${loan(1)[0]?.stream ?? ''} and version = 5`;
    const { findings } = await verifySeals(database.pool, {});
    expect(findings).toMatchObject([{ tipo: 'linha_alterada', colunas: [] }]);
  });

  test('is in the feed for who asks for it, in its place and marked, and for nobody else', async () => {
    const fail = () => commitEvents(database.sql, partnerId, 1);
    await fail();
    await run(linesOf(loan(2)));
    await fail();
    await untilSettled(database.sql);
    const read = async (history: boolean, after: FeedCursor | null = null) => {
      const { events, next } = await readFeed(database.pool, { partnerId, event: null, after, limit: 10, history });
      return { next, reported: events.map(({ imported, loanVersion }) => [imported, loanVersion]) };
    };
    expect((await read(false)).reported).toEqual([
      [false, 1],
      [false, 1],
    ]);
    const all = await read(true);
    expect(all.reported).toEqual([
      [false, 1],
      [true, 2],
      [true, 4],
      [true, 5],
      [false, 1],
    ]);
    expect(await whereToGoOn(database.pool, partnerId, all.next as FeedCursor)).toBeNull();
    const { events } = await readFeed(database.pool, { partnerId, event: null, after: null, limit: 3, history: true });
    const third = events.at(-1) as FeedCursor;
    expect(await whereToGoOn(database.pool, partnerId, third)).toBeNull();
    expect((await read(true, third)).reported).toEqual([
      [true, 5],
      [false, 1],
    ]);
    expect((await read(false, third)).reported).toEqual([[false, 1]]);
    const start = await findStart(database.pool, partnerId, new Date(Date.now() - DAY_MS), true);
    expect((await read(true, start)).reported).toHaveLength(5);
    const later = await findStart(database.pool, partnerId, new Date(Date.now() + DAY_MS), true);
    expect((await read(true, later)).reported).toEqual([]);
  });

  test('that only SQL brought in is projected by the projector of the others', async () => {
    const [first] = loan(3);
    await database.sql`
      select append_history(array(select e from json_array_elements(${JSON.stringify(loan(3))}::text::json) e))`;
    await untilSettled(database.sql);
    await run('');
    expect(await database.sql`select status from loans where id = ${first?.stream ?? ''}`).toEqual([
      { status: 'desembolsada' },
    ]);
  });

  test('has the numbers of loans go on above its own', async () => {
    const year = dayOf(BEGUN).slice(0, 4);
    const next = async () => {
      const [row] = await database.sql<[{ number: string }]>`select next_loan_number(${year})::text as number`;
      return Number(row.number);
    };
    const before = await next();
    await run(linesOf(loan(before + 500)));
    expect(await next()).toBe(before + 502);
    await run(linesOf(loan(4)));
    expect(await next()).toBe(before + 503);
  });

  test('lists bonds when they happened', async () => {
    const { stream } = loan(5)[0] as { stream: string };
    const at = new Date(BEGUN.getTime() + 30 * DAY_MS).toISOString();
    const ended = {
      stream,
      version: 6,
      type: 'trabalhador.desligado',
      partner_id: partnerId,
      occurred_at: at,
      data: {
        emprestimo_id: stream,
        numero_emprestimo: loan(5)[0]?.data['numero'],
        cpf_trabalhador: '52998224725',
        matricula: 'M-5',
        nome_trabalhador: 'Ana Souza',
        data_desligamento: at.slice(0, 10),
        motivo_desligamento: { codigo: '02', descricao: 'Sem justa causa' },
        situacao_emprestimo: { codigo: 'encerrada_desligamento', descricao: 'Encerrada' },
      },
    };
    expect(await run(linesOf([...loan(5), ended]))).toMatchObject({ appended: 6 });
    // What another database's transaction held back is folded by the next run.
    await untilSettled(database.sql);
    await run(linesOf([...loan(5), ended]));
    const bonds = await database.sql`select loan_id, detected_at from bond_records where partner_id = ${partnerId}`;
    expect(bonds).toEqual([{ loan_id: stream, detected_at: new Date(at) }]);
  });
});

describe('installments that were settled elsewhere', () => {
  const month = (offset: number) => {
    const [year, of] = dayOf(NOW).split('-').map(Number) as [number, number];
    return new Date(Date.UTC(year, of - 1 + offset, 15)).toISOString().slice(0, 7);
  };
  const long = new Date(NOW.getTime() - 300 * DAY_MS);
  const close = async (of: string) => {
    const closing = await closeSettlement(database.pool, { partnerId, actor: 'test', requestId: null }, of);
    return 'ok' in closing ? closing.ok.settlement : null;
  };
  const settled = (id: string) =>
    database.pool.run(async (tx) => {
      const state = await readLoan(database.pool, partnerId, id);
      return state === null ? null : countSettled(tx, partnerId, state);
    });

  test('are in no batch, and no longer pending', async () => {
    const events = [loanHistory(partnerId, 0, long, partnerId), loanHistory(partnerId, 1, BEGUN, partnerId)];
    const stream = idOf(partnerId, 0);
    await run(linesOf(events.flat()), { closedUntil: month(-3) });
    await untilSettled(database.sql);
    const elsewhere = await settled(stream);
    expect(elsewhere).toBeGreaterThan(5);
    expect(await close(month(-3))).toMatchObject({ total_parcelas: 0, numero_ccbs: 0 });
    expect(await close(month(-2))).toMatchObject({ total_parcelas: 2, numero_ccbs: 2 });
    expect(await close(month(-1))).toMatchObject({ total_parcelas: 2 });
    expect(await settled(stream)).toBe((elsewhere ?? 0) + 2);
  });

  test('are not counted late, either, by a batch that counts what closed here since', async () => {
    for (const offset of [-4, -3, -2]) await close(month(offset));
    await run(linesOf(loanHistory(partnerId, 0, long, partnerId)), { closedUntil: month(-3) });
    await untilSettled(database.sql);
    expect(await close(month(-1))).toMatchObject({ total_parcelas: 2, numero_ccbs: 1 });
  });

  test('are counted late, as of a loan that was paid out late, where nobody said so', async () => {
    await run(linesOf(loanHistory(partnerId, 0, long, partnerId)));
    await untilSettled(database.sql);
    await close(month(-2));
    expect(await close(month(-1))).toMatchObject({ total_parcelas: 1 });
  });

  test('given again with another last month is refused, not taken for done', async () => {
    const text = linesOf(loan(7));
    await run(text, { closedUntil: month(-3) });
    for (const other of [month(-2), month(-4), null])
      expect((await run(text, { closedUntil: other })).stopped).toMatchObject({
        line: 5,
        reason: expect.stringContaining(
          `closed_until: the installments of this loan came in as settled elsewhere until ${month(-3)}`,
        ) as string,
      });
    expect(await run(text, { closedUntil: month(-3) })).toMatchObject({ appended: 0, stopped: null });
  });

  test('waits for no other history, and the projector finds what commits out of turn', async () => {
    const [one, other] = [linesOf(loan(8)), linesOf(loan(9))];
    const append = (sql: Sql | Tx, text: string) => sql`
      select appended from append_history(
        array(select line::json from string_to_table(${text.trim()}, e'\n') with ordinality as l (line, n) order by n))`;
    const open = await database.sql.reserve();
    await open`begin`;
    await append(open, one);
    await database.sql.begin(async (tx) => {
      await tx`set local lock_timeout = '1s'`;
      expect(await append(tx, other)).toEqual([{ appended: 5 }]);
    });
    await open`commit`;
    open.release();
    await untilSettled(database.sql);
    while ((await projectBatch({ pool: database.pool, log: silentLog })).more);
    const ids = [one, other].map((text) => (JSON.parse(text.split('\n')[0] ?? '') as HistoryEvent).stream);
    expect(await database.sql`select version from loans where id = any (${ids}::uuid[])`).toEqual([
      { version: 5 },
      { version: 5 },
    ]);
  });

  test('are told of months that are over', async () => {
    await expect(run(linesOf(loan(6)), { closedUntil: month(0) })).rejects.toThrow(
      '--closed-until) must be a month that is over',
    );
  });
});

describe('a line that does not fit is named, with its key and rule, and nothing of its batch is in:', () => {
  type Change = (events: Record<string, unknown>[]) => unknown;
  const at =
    (index: number, change: Record<string, unknown>): Change =>
    (events) => {
      Object.assign(events[index] as object, change);
    };
  const data =
    (index: number, change: Record<string, unknown>): Change =>
    (events) => {
      const event = events[index] as { data: object };
      event.data = { ...event.data, ...change };
    };
  const after = new Date(BEGUN.getTime() + 40 * DAY_MS).toISOString();
  const raw =
    (index: number, from: string | RegExp, to: string): Change =>
    (events) => {
      const lines = linesOf(events).split('\n');
      lines[index] = (lines[index] ?? '').replace(from, to);
      return lines.join('\n');
    };

  test.each<[string, number, RegExp, Change]>([
    ['a gap', 4, /^version: 5 does not follow 3/, (events) => events.splice(3, 1)],
    [
      'a gap at the beginning',
      1,
      /^version: 2 leaves a gap: the stream has no version 1/,
      (events) => events.splice(0, 1),
    ],
    ['a duplicate', 3, /^version: 2 stands twice/, (events) => events.splice(2, 0, { ...events[1] })],
    ['a time to come', 5, /^occurred_at: lies in the future/, at(4, { occurred_at: '2999-01-01T00:00:00.000Z' })],
    [
      'a time before that of the event before it',
      3,
      /^occurred_at: lies before that of version 2/,
      at(2, { occurred_at: '2001-01-01T00:00:00.000Z' }),
    ],
    [
      'a time before 2000',
      1,
      /^occurred_at: lies before the year 2000/,
      at(0, { occurred_at: '1999-01-01T00:00:00.000Z' }),
    ],
    ['a leap second', 1, /^occurred_at: must be an instant/, at(0, { occurred_at: '2016-12-31T23:59:60.000Z' })],
    ['a time without a zone', 1, /^occurred_at: must be an instant/, at(0, { occurred_at: '2025-01-01T00:00:00' })],
    [
      'an unknown partner',
      1,
      /^partner_id: there is no partner/,
      (events) => events.forEach((event) => (event['partner_id'] = idOf('nobody'))),
    ],
    [
      'another partner within a stream',
      3,
      /^partner_id: (the stream is another partner's|there is no partner)/,
      at(2, { partner_id: idOf('nobody') }),
    ],
    [
      'a key that is missing',
      5,
      /^the payload of "desembolso.liquidado" does not fit: the key "data_liberacao" is missing/,
      data(4, { data_liberacao: undefined }),
    ],
    ['an unknown type', 2, /^the event type "assinatura.feita" is unknown/, at(1, { type: 'assinatura.feita' })],
    [
      'more than 64 KiB',
      4,
      /^the payload has \d+ bytes, and 64 KiB are allowed/,
      data(3, { protocolo_registry: 'x'.repeat(70_000) }),
    ],
    ['a line of 3 MiB', 4, /^is longer than 2048 KiB/, data(3, { protocolo_registry: 'x'.repeat(3_000_000) })],
    ['what is not JSON', 3, /^is not JSON/, raw(2, '}', '')],
    [
      '500,000 lists in one another',
      4,
      /^is nested more than 64 deep/,
      raw(3, /"data":\{/, `"data":{"x":${'['.repeat(500_000)}${']'.repeat(500_000)},`),
    ],
    ['what is no object', 3, /^it must be an object/, raw(2, /.*/, '[1]')],
    ['a number beyond doubles', 1, /"valor_liberado" must be an amount/, raw(0, '5000.5', '1e400')],
    ['a key twice', 2, /^version: stands twice/, raw(1, '"version":2', '"version":2,"version":2')],
    ['an unknown key of the line', 2, /^"versao": is unknown; the keys are stream/, at(1, { versao: 2 })],
    ['half a surrogate pair', 4, /half of a surrogate pair/, raw(3, 'REG-', String.raw`\ud83d`)],
    ['another loan than the stream', 2, /names the loan/, data(1, { emprestimo_id: idOf('another') })],
    [
      'a step that the loan has not reached',
      2,
      /^type: desembolso.liquidado does not fit a loan that is em_assinatura/,
      (events) => events.splice(1, 3, { ...events[4], version: 2 }) && events.splice(2),
    ],
    [
      'another number than the loan',
      5,
      /^data.numero_emprestimo: must be \d{4}-\d{8}, the number of the loan/,
      data(4, { numero_emprestimo: '2020-00000001' }),
    ],
    [
      'no contract',
      1,
      /^type: the stream must begin with the contract/,
      (events) => events.splice(0, 1) && events.forEach((event, index) => (event['version'] = index + 1)),
    ],
    [
      'an event behind the end of bond',
      6,
      /^type: assinatura.concluida does not fit a loan that is encerrada_desligamento/,
      (events) => {
        const stream = events[0]?.['stream'];
        const ended = {
          emprestimo_id: stream,
          numero_emprestimo: (events[0] as { data: { numero: string } }).data.numero,
          cpf_trabalhador: '52998224725',
          matricula: 'M',
          nome_trabalhador: 'Ana',
          data_desligamento: '2025-01-01',
          motivo_desligamento: { codigo: '1', descricao: 'x' },
          situacao_emprestimo: { codigo: 'encerrada', descricao: 'x' },
        };
        events[4] = { ...events[4], type: 'trabalhador.desligado', data: ended };
        events.push({ ...events[1], version: 6, occurred_at: after });
      },
    ],
  ])('%s', async (_, line, reason, change) => {
    const events = structuredClone(loan(9)) as unknown as Record<string, unknown>[];
    const changed = change(events);
    const text = typeof changed === 'string' ? changed : linesOf(events);
    const { stopped, ...rest } = await run(linesOf(loan(8)) + text, { batch: 5 });
    expect([stopped?.line, stopped?.reason]).toEqual([line + 5, expect.stringMatching(reason)]);
    expect(rest).toMatchObject({ line: 5, appended: 5 });
    expect(await database.sql`select from events where partner_id = ${partnerId}`).toHaveLength(5);
    expect(stopped?.reason).not.toMatch(/52998224725/);
  });

  test('what is not UTF-8', async () => {
    const bytes = Buffer.from(linesOf(loan(10)));
    bytes[bytes.indexOf('REG-')] = 0xff;
    expect((await run(bytes)).stopped).toMatchObject({ line: 4, reason: 'is not UTF-8' });
  });

  test('another event than the one that is there', async () => {
    await run(linesOf(loan(11)));
    const events = loan(11);
    const [, second] = events;
    const others = [events[0], { ...second, actor: 'somebody' }];
    expect((await run(linesOf(others))).stopped).toMatchObject({
      line: 2,
      reason: 'version: 2 is there already and holds another event',
    });
  });

  test('an event that stands twice, in batches apart', async () => {
    const text = linesOf([...loan(12), ...loan(13), loan(12)[0]]);
    expect((await run(text, { batch: 5 })).stopped).toEqual({ line: 11, reason: 'version: 1 stands twice' });
  });

  test('an event behind one that the core appended', async () => {
    await run(linesOf(loan(14).slice(0, 1)));
    const [first, second] = loan(14) as unknown as [{ stream: string }, { data: object }];
    await database.sql`
      select append_event(${first.stream}, 1, 'assinatura.concluida', ${partnerId}, ${JSON.stringify(second.data)}::text::json, 'core')`;
    expect((await run(linesOf(loan(14).slice(0, 2)))).stopped?.reason).toBe(
      'version: 2 was appended, not imported: it stands, leave this event out',
    );
    expect((await run(linesOf(loan(14).slice(2)))).stopped?.reason).toMatch(
      /^version: 2 was appended, not imported: history ends/,
    );
  });

  test('a second closing of a month', async () => {
    const reported = (id: string) => ({
      stream: id,
      version: 1,
      type: 'repasse.processado',
      partner_id: partnerId,
      occurred_at: BEGUN.toISOString(),
      data: {
        repasse_id: id,
        competencia: '2024-05',
        total_parcelas: 3,
        numero_ccbs: 3,
        valor_total: 780.3,
        fechado_em: '2024-06-03T12:00:00.000Z',
      },
    });
    expect((await run(linesOf([reported(idOf(partnerId, 1))]))).stopped).toBeNull();
    await untilSettled(database.sql);
    await run('');
    expect((await run(linesOf([reported(idOf(partnerId, 2))]))).stopped).toMatchObject({
      line: 1,
      reason: expect.stringMatching(/^data.competencia: the month 2024-05 is closed/) as string,
    });
  });
});
