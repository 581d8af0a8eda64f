/** A core that went live before its loans' history came: what it has appended stands, and history comes in behind it. */
import { randomUUID } from 'node:crypto';
import type postgres from 'postgres';
import { beforeEach, describe, expect, test } from 'vitest';
import { addUp } from '../../src/audit/add-up-balance.ts';
import { readBalance } from '../../src/audit/balance.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { addDays, dayOf } from '../../src/contract/calendar.ts';
import { checkHistory } from '../../src/core/history/check-history.ts';
import { importHistory, type ImportOptions } from '../../src/core/history/import-history.ts';
import { readLoanHistory } from '../../src/core/loans/loan-history.ts';
import { readLoan } from '../../src/core/loans/read-loan.ts';
import { projectBatch } from '../../src/core/projection/projector.ts';
import { rebuildLoans } from '../../src/core/projection/rebuild.ts';
import { countSettled } from '../../src/core/settlement/installments.ts';
import type { LoanState } from '../../src/loan/state.ts';
import { readFeed } from '../../src/log/feed.ts';
import { connectTo } from '../support/connect.ts';
import { createTestDatabase } from '../support/database.ts';
import { type HistoryEvent, linesOf, loanHistory } from '../support/history.ts';
import { createLogin } from '../support/logins.ts';
import { insertPartner, insertWebhook } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';
import { silentLog } from '../support/silent-log.ts';

const DAY_MS = 86_400_000;
const BEGUN = new Date(Date.now() - 40 * DAY_MS);
const database = await createTestDatabase();
const login = await createLogin(database, 'carteiro_core', 'carteiro_migrator');
const core = connectTo(login.url, { max: 2, connection: { search_path: 'carteiro', lock_timeout: 1_000 } });

let partnerId: string;
let loans = 0;
beforeEach(async () => {
  partnerId = await insertPartner(database.sql);
  await insertWebhook(database.sql, partnerId, 'https://partner.example/', [
    'desembolso.liquidado',
    'trabalhador.desligado',
  ]);
});

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

const run = (events: readonly unknown[], options: Partial<ImportOptions> = {}) =>
  importHistory({ pool: database.pool, log: silentLog }, bytesOf(linesOf(events)), {
    batch: 100,
    rate: 0,
    closedUntil: null,
    ...options,
  });

const append = (event: HistoryEvent, version: number, sql: postgres.Sql | postgres.TransactionSql = core) => sql`
  select fan_out from append_event(${event.stream}, ${version}, ${event.type}, ${partnerId},
                                   ${JSON.stringify(event.data)}::text::json, 'core')`;

function loanOf(seed: string): [HistoryEvent, HistoryEvent, HistoryEvent, HistoryEvent, HistoryEvent] {
  loans += 1;
  return loanHistory(partnerId, loans, BEGUN, `${partnerId} ${seed}`) as ReturnType<typeof loanOf>;
}

const versionsOf = async (stream: string) =>
  (
    await database.sql<{ version: number; imported: boolean }[]>`
      select version, imported from events where stream = ${stream} order by version`
  ).map(({ version, imported }) => `${version}${imported ? ' imported' : ''}`);

const project = async () => {
  await untilSettled(database.sql);
  while ((await projectBatch({ pool: database.pool, log: silentLog })).more);
};

describe('history behind an append', () => {
  test('takes the versions below the append’s, which keeps its own; the loan is whole, and goes on', async () => {
    const [contract, signed, asked, registered, paid] = loanOf('whole');
    const { stream } = contract;
    expect(await append(paid, 0)).toEqual([{ fan_out: 1 }]);
    await project();
    expect(await readLoan(database.pool, partnerId, stream)).toBeNull();
    const history = [contract, signed, asked, registered];
    expect(await run(history, { batch: 2 })).toMatchObject({ appended: 4, stopped: null });
    expect(await versionsOf(stream)).toEqual(['-3 imported', '-2 imported', '-1 imported', '0 imported', '1']);
    expect(await run(history, { batch: 2 })).toMatchObject({ appended: 0, stopped: null });
    await project();
    expect(await readLoan(database.pool, partnerId, stream)).toMatchObject({ status: 'desembolsada', version: 1 });
    const way = await readLoanHistory(database.pool, partnerId, stream, { from: null, most: 3 });
    expect([way?.itens.map(({ versao, status }) => [versao, status]), way?.proxima_versao]).toEqual([
      [
        [-3, 'em_assinatura'],
        [-2, 'aguardando_averbacao'],
        [-1, 'aguardando_averbacao'],
      ],
      0,
    ]);
    const rest = await readLoanHistory(database.pool, partnerId, stream, { from: 0, most: 3 });
    expect(rest?.itens.map(({ versao, entregas }) => [versao, entregas.length])).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect(
      await append(
        { ...paid, type: 'averbacao.falhou', data: { emprestimo_id: stream, averbacao_id: randomUUID(), erro: 'x' } },
        1,
      ),
    ).toEqual([{ fan_out: 0 }]);
    expect(await readLoan(database.pool, partnerId, stream)).toMatchObject({ status: 'desembolsada', version: 2 });
    expect(await readLoan(database.pool, partnerId, stream, 1)).toMatchObject({ status: 'desembolsada', version: 1 });
  });

  test('is not sent, is sealed beside what stood, and nothing is found amiss', async () => {
    await database.sql`
      insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
      select id, partner_id, url, events, active, 'test' from webhooks where partner_id = ${partnerId}`;
    const [contract, signed, asked, registered, paid] = loanOf('sealed');
    await append(paid, 0);
    await untilSettled(database.sql);
    await sealAll(database.pool);
    const [before] = await database.sql`select * from events where stream = ${paid.stream}`;
    await run([contract, signed, asked, registered]);
    await project();
    await sealAll(database.pool);
    expect((await verifySeals(database.pool, {})).findings).toEqual([]);
    expect(await database.sql`select * from events where stream = ${paid.stream} and version = 1`).toEqual([before]);
    const today = dayOf(new Date());
    const balance = await addUp(readBalance(database.pool, today, today), today, today, 10);
    expect(balance.diferencas.filter(({ parceiro_id: id }) => id === partnerId)).toEqual([]);
    expect((await rebuildLoans(database.pool, silentLog, { repair: false })).differences).toEqual([]);
    expect(
      await database.sql`select version from deliveries d join events e on e.id = event_id where e.stream = ${paid.stream}`,
    ).toEqual([{ version: 1 }]);
    const feed = await readFeed(database.pool, { partnerId, event: null, after: null, limit: 10, history: true });
    expect(feed.events.map(({ imported, loanVersion }) => [imported, loanVersion])).toEqual([
      [false, 1],
      [true, -2],
      [true, 0],
    ]);
  });

  test('makes the loan of which a bond had been told, and its installments', async () => {
    const [contract, signed, asked, registered, paid] = loanOf('bond');
    const left: HistoryEvent = {
      ...paid,
      type: 'trabalhador.desligado',
      data: {
        emprestimo_id: paid.stream,
        numero_emprestimo: contract.data['numero'],
        cpf_trabalhador: contract.data['cpf_trabalhador'],
        matricula: 'M-0',
        nome_trabalhador: 'Ana Souza',
        data_desligamento: dayOf(new Date()),
        motivo_desligamento: { codigo: '02', descricao: 'Sem justa causa' },
        situacao_emprestimo: { codigo: 'encerrado_desligamento', descricao: 'Encerrado por desligamento' },
      },
    };
    await append(left, 0);
    await project();
    await run([contract, signed, asked, registered, paid]);
    await project();
    const bonds = await database.sql`select loan_id from bond_records where partner_id = ${partnerId}`;
    expect(bonds).toEqual([{ loan_id: paid.stream }]);
    const loan = await readLoan(database.pool, partnerId, paid.stream);
    expect(loan).toMatchObject({
      status: 'encerrada_desligamento',
      disbursedOn: paid.data['data_liberacao'],
    });
    expect(await database.pool.run((sql) => countSettled(sql, partnerId, loan as LoanState))).toBe(0);
  });
});

describe('history behind an append is refused, and the refusal says what to do, where', () => {
  const reasonOf = async (events: readonly unknown[]) => (await run(events)).stopped?.reason;
  const changed = (event: HistoryEvent, data: object) => ({ ...event, data: { ...event.data, ...data } });

  test('the append is the loan’s contract', async () => {
    const [contract, signed] = loanOf('contract');
    await append(contract, 0);
    expect(await reasonOf([contract, signed])).toMatch(
      /^version: 1, which was appended, begins its stream: nothing lies before it/,
    );
  });

  test('it lies behind the append', async () => {
    const [contract, signed, asked, registered, paid] = loanOf('time');
    await database.sql`
      select append_event(${paid.stream}, 0, ${paid.type}, ${partnerId}, ${JSON.stringify(paid.data)}::text::json, 'core', null,
                          ${new Date(Date.parse(registered.occurred_at) - 1)})`;
    expect(await reasonOf([contract, signed, asked, registered])).toMatch(
      /^version: 1, which was appended, lies before this event/,
    );
  });

  test('it has what was appended already', async () => {
    const [contract, signed, asked, registered, paid] = loanOf('twice');
    await append(paid, 0);
    const other = changed(paid, { data_liberacao: addDays(String(paid.data['data_liberacao']), 1) });
    for (const last of [paid, other])
      expect(await reasonOf([contract, signed, asked, registered, last])).toMatch(
        /^version: 1, which was appended, is this event already/,
      );
  });

  test('partners were told another number or amount', async () => {
    const [contract, signed, asked, registered, paid] = loanOf('other');
    await append(paid, 0);
    const rest = [signed, asked, registered];
    expect(await reasonOf([changed(contract, { numero: '2024-00000077' }), ...rest])).toMatch(
      /^version: 1, which was appended, says another numero_emprestimo .*correct the history, or leave it out/,
    );
    expect(await reasonOf([changed(contract, { valor_liberado: 5000.49 }), ...rest])).toMatch(
      /says another valor_liberado/,
    );
    expect(await reasonOf([contract, ...rest])).toBeUndefined();
  });

  test('what was appended does not fit behind it by the loan’s rules', async () => {
    const [contract, signed, , , paid] = loanOf('rules');
    await append(paid, 0);
    const expected =
      /^version: 1, which was appended, does not fit behind this: type: desembolso.liquidado does not fit a loan that is/;
    const { stopped } = await run([contract, signed]);
    expect(stopped).toEqual({ line: 2, reason: expect.stringMatching(expected) as string });
    const reported: unknown[] = [];
    await checkHistory(database.pool, bytesOf(linesOf([contract, signed])), null, (found) => reported.push(found));
    expect(reported).toEqual([{ line: 2, kind: 'fault', what: expect.stringMatching(expected) as string }]);
  });

  test('it is another partner’s', async () => {
    const [contract, , , , paid] = loanOf('partner');
    await append(paid, 0);
    expect(await reasonOf([{ ...contract, partner_id: await insertPartner(database.sql) }])).toMatch(
      /is another partner's/,
    );
  });

  test('more of it comes than came at first', async () => {
    const [contract, signed, asked, registered, paid] = loanOf('more');
    await append(paid, 0);
    await run([contract, signed, asked, registered]);
    const late = { ...registered, version: 5 };
    expect(await reasonOf([late])).toBe('version: 5 was appended, not imported: it stands, leave this event out');
  });
});

test('loans move in one by one, each with its next event in one transaction, and none waits for another', async () => {
  const bring = async (tx: postgres.TransactionSql, seed: string, late: boolean) => {
    const loan = loanOf(seed);
    const paid = loan[4];
    if (late) await append(paid, 0, tx);
    await tx`
      select append_history(array(select line::json from string_to_table(${linesOf(loan.slice(0, 4)).trim()}, e'\n') as l (line)))`;
    if (!late) await append(paid, 4, tx);
    return paid.stream;
  };
  const streams = await core.begin(async (tx) => {
    const one = await bring(tx, 'one', false);
    const late = await bring(tx, 'late', true);
    const beside = await core.begin((other) => bring(other, 'beside', false));
    return [one, late, beside];
  });
  await project();
  for (const stream of streams)
    expect(await readLoan(database.pool, partnerId, stream)).toMatchObject({ status: 'desembolsada' });
});
