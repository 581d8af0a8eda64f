/** `import --check`: every fault and warning of a file in one run, in the order of its lines, and nothing of it stays. */
import { expect, test } from 'vitest';
import { addDays, dayOf } from '../../src/contract/calendar.ts';
import { checkHistory, type FoundInLine } from '../../src/core/history/check-history.ts';
import { importHistory } from '../../src/core/history/import-history.ts';
import { createTestDatabase } from '../support/database.ts';
import { type HistoryEvent, linesOf, loanHistory } from '../support/history.ts';
import { insertPartner } from '../support/outbox.ts';
import { silentLog } from '../support/silent-log.ts';

const { pool, sql } = await createTestDatabase();
const partnerId = await insertPartner(sql);
const BEGUN = new Date(Date.now() - 100 * 86_400_000);
const TODAY = dayOf(new Date());

async function* bytesOf(text: string | Buffer): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

async function check(text: string | Buffer) {
  const found: FoundInLine[] = [];
  const counts = await checkHistory(pool, bytesOf(text), null, (one) => found.push(one));
  return { counts, found: found.map(({ line, kind, what }) => `${line} ${kind} ${what}`) };
}

/** The lines of 60 loans, five each, with one changed here and there. */
function crooked(): string[] {
  const loans = Array.from({ length: 60 }, (_, index) => loanHistory(partnerId, index, BEGUN, 'crooked'));
  const at = (line: number) => loans.flat()[line - 1] as HistoryEvent & { data: Record<string, unknown> };
  at(1).data['cpf_trabalhador'] = '52998224726';
  at(4).data['protocolo_registry'] = 7;
  Object.assign(at(8), { version: 9 });
  at(15).data['data_liberacao'] = addDays(dayOf(BEGUN), -3);
  at(20).data['data_liberacao'] = addDays(dayOf(BEGUN), 60);
  at(25).data['data_liberacao'] = addDays(TODAY, 3);
  at(31).data['numero'] = at(26).data['numero'];
  at(35).data['numero_emprestimo'] = at(31).data['numero'];
  Object.assign(at(39), { type: 'assinatura.concluida', data: at(37).data });
  Object.assign(at(296), { occurred_at: '2099-01-01T00:00:00.000Z' });
  return linesOf(loans.flat()).trimEnd().split('\n');
}

const FOUND = [
  /^1 fault .*"cpf_trabalhador" must be a CPF/,
  /^4 fault .*"protocolo_registry" must be/,
  /^8 fault version: 9 (leaves a gap|does not follow)/,
  /^15 warning data\.data_liberacao: lies before the loan's contract$/,
  /^20 warning data\.data_liberacao: lies behind occurred_at$/,
  /^25 fault data\.data_liberacao: lies ahead$/,
  /^31 warning data\.numero: the loan \S+ bears this number already, and keeps it$/,
  /^39 fault type: /,
  /^296 fault occurred_at: /,
];

test('a file with faults of each kind is told whole, and the log stays as it was', async () => {
  const { counts, found } = await check(crooked().join('\n'));
  expect(found).toHaveLength(FOUND.length);
  found.forEach((line, index) => expect(line).toMatch(FOUND[index] as RegExp));
  expect(counts).toEqual({ lines: 300, faults: 6, warnings: 3 });
  const left = await sql`
    select (select count(*)::int from events) as events, (select count(*)::int from numbered_loans) as numbers,
           (select count(*)::int from history_batches) as batches`;
  expect(left).toEqual([{ events: 0, numbers: 0, batches: 0 }]);
});

test('lines that cannot be read are told, and those behind them are judged', async () => {
  const [good = '', ...rest] = linesOf(loanHistory(partnerId, 1, BEGUN, 'unread'))
    .trimEnd()
    .split('\n');
  const text = Buffer.concat([
    Buffer.from(`${good}\n{"stream":\n`),
    Buffer.from([0xff, 0x0a]),
    Buffer.from(`${'x'.repeat(2_200_000)}\n${rest.join('\n').replace('"version":5', '"version":6')}`),
  ]);
  const { counts, found } = await check(text);
  expect(found).toEqual([
    expect.stringMatching(/^2 fault is not JSON/),
    '3 fault is not UTF-8',
    '4 fault is longer than 2048 KiB',
    expect.stringMatching(/^8 fault version: 6 does not follow 4/),
  ]);
  expect(counts).toMatchObject({ lines: 8, faults: 4 });
});

test('an import tells the warnings of what it appends, each once', async () => {
  const loan = loanHistory(partnerId, 0, BEGUN, 'warned');
  (loan[4] as HistoryEvent & { data: Record<string, unknown> }).data['data_liberacao'] = addDays(dayOf(BEGUN), -1);
  const warned: unknown[] = [];
  const run = () =>
    importHistory({ pool, log: silentLog, onWarning: (warning) => warned.push(warning) }, bytesOf(linesOf(loan)), {
      batch: 2,
      rate: 0,
      closedUntil: null,
    });
  expect(await run()).toMatchObject({ appended: 5, stopped: null });
  expect(await run()).toMatchObject({ appended: 0, stopped: null });
  expect(warned).toEqual([{ line: 5, warning: "data.data_liberacao: lies before the loan's contract" }]);
});

test('a transfer that lies ahead is refused by the import', async () => {
  const loan = loanHistory(partnerId, 1, BEGUN, 'ahead');
  (loan[4] as HistoryEvent & { data: Record<string, unknown> }).data['data_liberacao'] = '2099-01-01';
  const options = { batch: 10, rate: 0, closedUntil: null };
  expect(await importHistory({ pool, log: silentLog }, bytesOf(linesOf(loan)), options)).toMatchObject({
    stopped: { line: 5, reason: 'data.data_liberacao: lies ahead' },
  });
});
