import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { handleLoan } from '../../src/core/loans/handle-loan.ts';
import { closeSettlement, isOver } from '../../src/core/settlement/settlement.ts';
import type { Sql, Tx } from '../../src/db/pool.ts';
import type { Provenance } from '../../src/log/append.ts';
import { createTestDatabase } from '../support/database.ts';
import { disbursedLoan, registeredLoan } from './disbursed-loans.ts';
import { accepted, createPartner } from './loan-world.ts';

let partner: Provenance;

const database = await createTestDatabase();

const NOW = new Date('2024-06-15T12:00:00Z');
/** Every installment of the loans here has fallen due. */
const FAR = new Date('2025-06-15T12:00:00Z');

async function close(month: string, now = NOW, provenance = partner) {
  const closing = await closeSettlement(database.pool, provenance, month, now);
  if ('refused' in closing) throw new Error(`${month} is not over`);
  return closing.ok;
}

const totals = async (month: string) => {
  const { settlement } = await close(month);
  return [settlement.total_parcelas, settlement.numero_ccbs, settlement.valor_total];
};

const newPartner = async () => (partner = await createPartner(database.sql));
const loanOf = (on: string) => disbursedLoan(database.pool, partner, on);

async function endBond(loanId: string): Promise<void> {
  const reason = { codigo: '02', descricao: 'Sem justa causa' };
  await accepted(handleLoan(database.pool, partner, loanId, () => ({ type: 'endBond', on: '2023-05-01', reason })));
}

describe('a month', () => {
  test.each([
    ['2023-06', '2023-06-30T23:59:59Z', false],
    ['2023-06', '2023-07-01T00:00:00Z', false],
    ['2023-06', '2023-07-01T02:59:59.999Z', false],
    ['2023-06', '2023-07-01T03:00:00Z', true],
    ['2023-12', '2024-01-01T02:59:59Z', false],
    ['2023-12', '2024-01-01T03:00:00Z', true],
    ['2023-02', '2023-03-01T03:00:00Z', true],
    ['2023-08', '2023-07-31T12:00:00Z', false],
  ])('%s is over at %s: %s, because São Paulo is three hours behind', async (month, at, isItOver) => {
    await newPartner();
    expect(isOver(month, new Date(at))).toBe(isItOver);
    const closing = await closeSettlement(database.pool, partner, month, new Date(at));
    expect('ok' in closing).toBe(isItOver);
    const rows = await database.sql`select from settlements where partner_id = ${partner.partnerId}`;
    expect(rows).toHaveLength(isItOver ? 1 : 0);
  });

  test("is judged by the database's clock", async () => {
    await newPartner();
    expect(await closeSettlement(database.pool, partner, '2999-12')).toEqual({
      refused: { kind: 'monthNotOver', month: '2999-12' },
    });
    expect(await closeSettlement(database.pool, partner, '2020-01')).toMatchObject({
      ok: { alreadyClosed: false },
    });
  });
});

describe('a batch', () => {
  test('counts the installment k of a loan in the month of data_liberacao + k, and no other', async () => {
    await newPartner();
    await loanOf('2023-01-31');
    await loanOf('2023-03-01');
    await loanOf('2022-12-31');
    expect(await totals('2023-01')).toEqual([1, 1, 120.33]);
    expect(await totals('2023-02')).toEqual([2, 2, 240.66]);
    expect(await totals('2023-03')).toEqual([2, 2, 240.66]);
    expect(await totals('2023-04')).toEqual([3, 3, 360.99]);
    expect(await totals('2023-12')).toEqual([3, 3, 360.99]);
    expect(await totals('2024-01')).toEqual([2, 2, 240.66]);
    expect(await totals('2024-03')).toEqual([1, 1, 120.33]);
    expect(await totals('2024-04')).toEqual([0, 0, 0]);
  });

  test('counts what falls in a month that was closed before the loan was disbursed, once', async () => {
    await newPartner();
    for (const month of ['2023-02', '2023-03']) expect(await totals(month)).toEqual([0, 0, 0]);
    const late = await loanOf('2023-01-31');
    await loanOf('2023-03-31');
    const { settlement } = await close('2023-04');
    expect(settlement).toMatchObject({ total_parcelas: 4, numero_ccbs: 2, valor_total: 481.32 });
    expect(
      await database.sql`select number from settled_installments where loan_id = ${late.id} order by number`,
    ).toEqual([1, 2, 3].map((number) => ({ number })));
    expect(await totals('2023-05')).toEqual([2, 2, 240.66]);
  });

  test('counts the last installments too, when their months were closed before the loan was disbursed', async () => {
    await newPartner();
    for (const month of ['2023-11', '2023-12', '2024-01', '2024-02']) await close(month);
    await loanOf('2022-12-10');
    expect(await totals('2024-03')).toEqual([2, 1, 240.66]);
    expect(await totals('2024-04')).toEqual([0, 0, 0]);
  });

  test('leaves the installments of an earlier month that is still open to the batch of that month', async () => {
    await newPartner();
    await close('2023-03');
    await loanOf('2023-01-31');
    // February is open and closes after April: April takes March's with its own, February its own alone.
    expect(await totals('2023-04')).toEqual([2, 1, 240.66]);
    expect(await totals('2023-02')).toEqual([1, 1, 120.33]);
  });

  test("takes nothing from the months that only another partner closed, nor another partner's", async () => {
    const other = await newPartner();
    for (const month of ['2023-02', '2023-03']) await close(month);
    await loanOf('2023-01-31');
    await newPartner();
    await loanOf('2023-01-31');
    expect(await totals('2023-04')).toEqual([1, 1, 120.33]);
    expect((await close('2023-04', NOW, other)).settlement).toMatchObject({ total_parcelas: 3, numero_ccbs: 1 });
  });

  test('in whatever order months close and loans come, counts each installment of closed months once', async () => {
    const months = Array.from({ length: 9 }, (_, index) => `2023-0${index + 1}`);
    const acts = fc.array(fc.oneof(fc.constantFrom(...months), fc.integer({ min: 1, max: 9 })), { maxLength: 14 });
    const history = fc.asyncProperty(acts, async (acted) => {
      await newPartner();
      const total = { counted: 0, centavos: 0 };
      const account = async (month: string) => {
        const { settlement, alreadyClosed } = await close(month, FAR);
        if (alreadyClosed) return;
        total.counted += settlement.total_parcelas;
        total.centavos += Math.round(settlement.valor_total * 100);
      };
      for (const act of acted) await (typeof act === 'string' ? account(act) : loanOf(`2023-0${act}-15`));
      // Everything is closed in the end, one month after the last installment.
      const rest = [...months, ...['10', '11', '12'].map((month) => `2023-${month}`)];
      const after = Array.from({ length: 10 }, (_, index) => `2024-${String(index + 1).padStart(2, '0')}`);
      for (const month of [...rest, ...after]) await account(month);
      const loans = acted.filter((act) => typeof act === 'number').length;
      expect(total).toEqual({ counted: loans * 12, centavos: loans * 12 * 12_033 });
    });
    await fc.assert(history, { numRuns: 8, endOnFailure: true });
  });

  test('counts loans that are disbursed now: none that is under way, and none that was closed', async () => {
    await newPartner();
    const closed = await loanOf('2023-01-31');
    await registeredLoan(database.pool, partner);
    await endBond(closed.id);
    expect(await totals('2023-02')).toEqual([0, 0, 0]);
  });

  test('emits repasse.processado with its fields in order, as what is kept', async () => {
    await newPartner();
    const loan = await loanOf('2023-01-31');
    const { settlement, alreadyClosed } = await close('2023-02');
    expect(alreadyClosed).toBe(false);
    const events = await database.sql<{ data: object; at: Date; body: Buffer }[]>`
      select e.data, e.occurred_at as at, m.body
      from events e join messages m on m.event_id = e.id
      where e.stream = ${settlement.repasse_id} and e.type = 'repasse.processado'`;
    expect(events).toHaveLength(1);
    expect(Object.entries(events[0]?.data ?? {})).toEqual([
      ['repasse_id', settlement.repasse_id],
      ['competencia', '2023-02'],
      ['total_parcelas', 1],
      ['numero_ccbs', 1],
      ['valor_total', 120.33],
      ['fechado_em', '2024-06-15T12:00:00.000Z'],
    ]);
    expect(events[0]?.at).toEqual(NOW);
    const rows = await database.sql`
      select loan_id as loan, number from settled_installments where settlement_id = ${settlement.repasse_id}`;
    expect(rows).toEqual([{ loan: loan.id, number: 1 }]);
  });

  test('closes once: again, or from eight machines at once, is what exists and no event', async () => {
    await newPartner();
    await loanOf('2023-01-31');
    const all = await Promise.all(Array.from({ length: 8 }, () => close('2023-02')));
    expect(all.filter(({ alreadyClosed }) => !alreadyClosed)).toHaveLength(1);
    await loanOf('2023-01-31');
    const later = await close('2023-02', new Date('2024-12-01T00:00:00Z'));
    expect(later).toEqual({ settlement: all[0]?.settlement, alreadyClosed: true });
    const events = await database.sql`
      select from events where partner_id = ${partner.partnerId} and type = 'repasse.processado'`;
    expect(events).toHaveLength(1);
  });

  test('waits for a closing under way and finds what that one made', async () => {
    const { partnerId } = await newPartner();
    let closing: ReturnType<typeof close> | undefined;
    await database.pool.transaction(async (tx) => {
      await tx`select 1 from partners where id = ${partnerId} for no key update`;
      closing = close('2023-02');
      const waiting = () => database.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'`;
      await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0);
      await tx`
        insert into settlements (partner_id, month, installments, contracts, total_centavos, closed_at)
        values (${partnerId}, '2023-02', 7, 7, 700, now())`;
    });
    expect(await closing).toMatchObject({ alreadyClosed: true, settlement: { total_parcelas: 7, valor_total: 7 } });
  });

  describe('by a core in another language', () => {
    const dataOf = (id: string, month: string) => ({
      repasse_id: id,
      competencia: month,
      total_parcelas: 1,
      numero_ccbs: 1,
      valor_total: 1,
      fechado_em: '2023-03-02T12:00:00.000Z',
    });
    const append = (sql: Sql | Tx, id: string, partnerId: string, stream = id, version = 0) => {
      const data = JSON.stringify(dataOf(id, '2023-02'));
      return sql`
        select append_event(${stream}, ${version}, 'repasse.processado', ${partnerId}, ${data}::text::json, 'core')`;
    };
    const countClosings = async (partnerId: string) => {
      const [row] = await database.sql<[{ count: number }]>`
        select count(*)::int as count from events where partner_id = ${partnerId} and type = 'repasse.processado'`;
      return row.count;
    };

    test('is refused a second time before anybody has read the first', async () => {
      const { partnerId } = await newPartner();
      await append(database.sql, randomUUID(), partnerId);
      await expect(append(database.sql, randomUUID(), partnerId)).rejects.toMatchObject({ code: 'CT409' });
      expect(await countClosings(partnerId)).toBe(1);
    });

    test('is refused under its own id too, in its stream and in another, and a repeated import of it changes nothing', async () => {
      const { partnerId } = await newPartner();
      const [id, imported] = [randomUUID(), randomUUID()];
      await append(database.sql, id, partnerId);
      for (const [stream, version] of [[id, 1] as const, [randomUUID(), 0] as const])
        await expect(append(database.sql, id, partnerId, stream, version)).rejects.toMatchObject({
          code: 'CT409',
          detail: `{"version":${version}}`,
        });
      expect(await countClosings(partnerId)).toBe(1);
      const history = (ids: readonly string[]) => {
        const events = ids.map((stream, n) => {
          const data = dataOf(stream, `2022-0${n + 1}`);
          const event = { stream, version: 1, type: 'repasse.processado', partner_id: partnerId, data };
          return JSON.stringify({ ...event, occurred_at: data.fechado_em });
        });
        return database.sql`select appended from append_history(${events}::text[]::json[])`;
      };
      expect(await history([imported])).toEqual([{ appended: 1 }]);
      expect(await history([imported, randomUUID()])).toEqual([{ appended: 1 }]);
    });

    test.each(['repeatable read', 'serializable'])(
      'is begun again where another committed behind its %s snapshot, and is refused then',
      async (isolation) => {
        const { partnerId } = await newPartner();
        const closing = database.sql.begin(`isolation level ${isolation}`, async (tx) => {
          await tx`select count(*) from events`;
          await close('2023-02');
          await append(tx, randomUUID(), partnerId);
        });
        await expect(closing).rejects.toMatchObject({ code: '40001' });
        await expect(append(database.sql, randomUUID(), partnerId)).rejects.toMatchObject({ code: 'CT409' });
        expect(await countClosings(partnerId)).toBe(1);
      },
    );

    test('that is under way is waited for by our own closing, which finds it', async () => {
      const { partnerId } = await newPartner();
      const id = randomUUID();
      let own: ReturnType<typeof close> | undefined;
      await database.sql.begin(async (tx) => {
        await append(tx, id, partnerId);
        own = close('2023-02');
        const waiting = () => database.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'`;
        await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0);
      });
      expect(await own).toMatchObject({ alreadyClosed: true, settlement: { repasse_id: id } });
      expect(await countClosings(partnerId)).toBe(1);
    });
  });

  test('is of one partner', async () => {
    const other = await newPartner();
    await loanOf('2023-01-31');
    await newPartner();
    expect(await totals('2023-02')).toEqual([0, 0, 0]);
    expect((await close('2023-02', NOW, other)).settlement).toMatchObject({ total_parcelas: 1 });
  });

  test('of a partner that does not exist is a fault', async () => {
    const nobody = { partnerId: randomUUID(), actor: 'test', requestId: null };
    await expect(closeSettlement(database.pool, nobody, '2023-02', NOW)).rejects.toThrow('there is no partner');
  });

  test('of 20,000 loans is closed in a few seconds', async () => {
    await newPartner();
    const loan = await loanOf('2023-01-31');
    await database.sql`
      insert into loans (id, partner_id, version, state)
      select id, partner_id, version, (state::jsonb || jsonb_build_object('id', id, 'number', 'N-' || n))::json
      from (select gen_random_uuid() as id, n, partner_id, version, state
            from loans, generate_series(1, 19999) n where loans.id = ${loan.id}) copies`;
    expect(await totals('2023-02')).toEqual([20_000, 20_000, 2_406_600]);
  });
});
