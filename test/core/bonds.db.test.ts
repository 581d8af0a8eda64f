import { describe, expect, test } from 'vitest';
import { syncBonds, type SyncCounts } from '../../src/core/bonds/bonds.ts';
import { type BondPlace, readBonds } from '../../src/core/bonds/read-bonds.ts';
import { readLoan } from '../../src/core/loans/read-loan.ts';
import { closeSettlement } from '../../src/core/settlement/settlement.ts';
import { LOAN_STATUSES } from '../../src/contract/statuses.ts';
import { DatabaseUnavailable } from '../../src/db/unavailable.ts';
import { projectUntil } from '../../src/core/projection/projector.ts';
import { decide } from '../../src/loan/decide.ts';
import { STATUSES_OF_END_OF_BOND, STATUSES_OF_REHIRE } from '../../src/loan/decide-bonds.ts';
import type { LoanState } from '../../src/loan/state.ts';
import type { BondQuery, BondRegistry, EndedBond, NewBond } from '../../src/registry/bonds-port.ts';
import { reportEndOfBond, reportRehire } from '../../src/registry/simulated-bonds.ts';
import { contract } from '../loan/loan-spec.ts';
import { poolWith } from '../support/pool-with.ts';
import { startRegistry } from '../support/registry.ts';
import { silentLog } from '../support/silent-log.ts';
import { concludeRegistration, disbursedLoan, registeredLoan, registeringLoan } from './disbursed-loans.ts';
import { accepted, createPartner, eventTypes, issueLoan, useOnePartner } from './loan-world.ts';
import { concludeIssuance, failIssuance, settleDisbursement } from '../../src/core/loans/steps.ts';

const { database, partner } = await useOnePartner();
const simulated = await startRegistry(database.pool);

const END = { on: '2026-06-30', reason: { codigo: '02', descricao: 'Sem justa causa' } };
const REHIRE = {
  on: '2026-07-15',
  employer: { cnpj: '11444777000161', nome: 'Nova Empresa SA' },
  availableMarginCentavos: 12_033,
};

async function newLoan(provenance = partner): Promise<string> {
  return (await issueLoan(database.pool, provenance)).id;
}

const reportEnd = (loanId: string, provenance = partner) =>
  reportEndOfBond(database.sql, { partnerId: provenance.partnerId, loanId }, END);
const reportNew = (loanId: string, data = REHIRE) =>
  reportRehire(database.sql, { partnerId: partner.partnerId, loanId }, data);

async function sync(
  partnerId: string | null = partner.partnerId,
  registry: BondRegistry = simulated.registry,
): Promise<SyncCounts> {
  return syncBonds({ pool: database.pool, registry, log: silentLog }, { partnerId, actor: 'test', requestId: null });
}

const counts = (ended: number, rehired: number, more: Partial<SyncCounts> = {}) => ({
  ended,
  new: rehired,
  failed: 0,
  unknown: 0,
  refused: 0,
  ...more,
});
const status = async (loanId: string) => (await readLoan(database.pool, partner.partnerId, loanId))?.status;
const lastTypes = async (loanId: string, count: number) => (await eventTypes(database.sql, loanId)).slice(-count);

async function rehires(loanId: string): Promise<Record<string, unknown>[]> {
  const rows = await database.sql<{ data: Record<string, unknown> }[]>`
    select data from events where stream = ${loanId} and type = 'trabalhador.vinculo_novo' order by version`;
  return rows.map(({ data }) => data);
}

/** A registry that tells what it is given, and notes what it was asked. */
function scriptedRegistry(ended: readonly EndedBond[], rehired: readonly NewBond[] = []) {
  const asked: BondQuery[] = [];
  return {
    asked,
    async *endedBonds(query: BondQuery) {
      asked.push(query);
      yield ended;
    },
    async *newBonds() {
      yield rehired;
    },
  };
}

describe('an end of bond', () => {
  test('closes the loan and emits once, however often the overlapping windows bring it', async () => {
    const loanId = await newLoan();
    await reportEnd(loanId);
    expect(await sync()).toEqual(counts(1, 0));
    expect(await status(loanId)).toBe('encerrada_desligamento');
    for (let again = 0; again < 3; again += 1) expect(await sync()).toEqual(counts(0, 0));
    expect(await sync(null)).toEqual(counts(0, 0));
    expect(await eventTypes(database.sql, loanId)).toEqual(['emprestimo.contratado', 'trabalhador.desligado']);
  });

  test('waits for an issuance under way and closes the loan at the first sync after its end', async () => {
    const asynchronous = await createPartner(database.sql, { issuance: 'assincrona' });
    const [issued, cancelled] = [await newLoan(asynchronous), await newLoan(asynchronous)];
    await reportEnd(issued, asynchronous);
    await reportEnd(cancelled, asynchronous);
    expect(await sync(asynchronous.partnerId)).toEqual(counts(0, 0));
    await accepted(concludeIssuance(database.pool, asynchronous, issued));
    await accepted(failIssuance(database.pool, asynchronous, cancelled, 'esgotada'));
    // Long after the record left every window.
    await database.sql`update simulated_bonds set known_at = known_at - interval '30 days'`;
    expect(await sync()).toEqual(counts(0, 0));
    expect(await sync(asynchronous.partnerId)).toEqual(counts(1, 0));
    expect(await lastTypes(issued, 1)).toEqual(['trabalhador.desligado']);
    expect(await lastTypes(cancelled, 1)).toEqual(['emprestimo.emissao_falhou']);
    expect(await sync(asynchronous.partnerId)).toEqual(counts(0, 0));
  });

  test('during a registration closes the loan, and the registration still ends with its event', async () => {
    const loan = await registeringLoan(database.pool, partner);
    await reportEnd(loan.id);
    expect(await sync()).toEqual(counts(1, 0));
    const after = await concludeRegistration(database.pool, partner, loan);
    expect(after).toMatchObject({ status: 'encerrada_desligamento', registration: { status: 'concluida' } });
    expect(await lastTypes(loan.id, 2)).toEqual(['trabalhador.desligado', 'averbacao.concluida']);
  });

  test('during a transfer closes the loan, and the transfer still settles with its event', async () => {
    const loan = await registeredLoan(database.pool, partner);
    await reportEnd(loan.id);
    expect(await sync()).toEqual(counts(1, 0));
    const after = await accepted(settleDisbursement(database.pool, partner, loan.id));
    expect(after).toMatchObject({ status: 'encerrada_desligamento', disbursedOn: expect.stringMatching(/^\d{4}-/) });
    expect(await lastTypes(loan.id, 2)).toEqual(['trabalhador.desligado', 'desembolso.liquidado']);
  });

  test('told twice under two references closes once; the second stays open and is never shown', async () => {
    const loanId = await newLoan();
    await reportEnd(loanId);
    await reportEnd(loanId);
    expect(await sync()).toEqual(counts(1, 0));
    expect(await sync()).toEqual(counts(0, 0));
    const rows = await database.sql`
      select detected_at is not null as detected from bond_records where loan_id = ${loanId} order by id`;
    expect(rows).toEqual([{ detected: true }, { detected: false }]);
  });

  test("told about somebody else's loan is counted as refused, and not kept", async () => {
    const stranger = await createPartner(database.sql);
    const loanId = await newLoan();
    await reportEndOfBond(database.sql, { partnerId: stranger.partnerId, loanId }, END);
    expect(await sync(null)).toEqual(counts(0, 0, { refused: 1 }));
    expect(await database.sql`select from bond_records where loan_id = ${loanId}`).toHaveLength(0);
    await database.sql`delete from simulated_bonds where loan_id = ${loanId}`;
  });

  test('is looked for where the decider takes it, and nowhere else', () => {
    const reason = END.reason;
    const rehire = { type: 'recordNewBond', ...REHIRE, outstandingCentavos: 0 } as const;
    for (const each of LOAN_STATUSES) {
      const state = { status: each, installmentCentavos: 1 } as LoanState;
      const takesEnd = 'ok' in decide({ type: 'endBond', on: END.on, reason }, state);
      expect([each, takesEnd]).toEqual([each, STATUSES_OF_END_OF_BOND.includes(each)]);
      expect([each, 'ok' in decide(rehire, state)]).toEqual([each, STATUSES_OF_REHIRE.includes(each)]);
    }
  });
});

describe('syncs that meet or fail', () => {
  test('of eight at once, on records of one partner, each record is detected by one', async () => {
    const many = await createPartner(database.sql);
    const loans: string[] = [];
    for (let index = 0; index < 6; index += 1) loans.push(await newLoan(many));
    for (const loanId of loans) {
      await reportEnd(loanId, many);
      await reportRehire(database.sql, { partnerId: many.partnerId, loanId }, REHIRE);
    }
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, index) => sync(index % 2 === 0 ? many.partnerId : null)),
    );
    expect(all.reduce((sum, each) => sum + each.ended, 0)).toBe(6);
    expect(all.reduce((sum, each) => sum + each.new, 0)).toBe(6);
    expect(all.every(({ failed }) => failed === 0)).toBe(true);
    for (const loanId of loans) {
      expect(await lastTypes(loanId, 2)).toEqual(['trabalhador.desligado', 'trabalhador.vinculo_novo']);
    }
    const rows = await database.sql<{ kind: string; times: number }[]>`
      select kind, count(distinct detected_at)::int as times from bond_records
      where partner_id = ${many.partnerId} group by kind order by kind`;
    expect(rows).toEqual([
      { kind: 'ended', times: 6 },
      { kind: 'new', times: 6 },
    ]);
  });

  test('a registry that breaks off leaves the window where it was, and what it told is not lost', async () => {
    const own = await createPartner(database.sql);
    const { partnerId } = own;
    const loanId = await newLoan(own);
    const record = { reference: 'breaks-off', partnerId, loanId, data: END };
    const broken: BondRegistry = {
      ...scriptedRegistry([record]),
      newBonds: () => {
        throw new Error('out of reach');
      },
    };
    await expect(sync(partnerId, broken)).rejects.toThrow('out of reach');
    expect(await database.sql`select from sync_windows where name = ${`bonds:${partnerId}`}`).toHaveLength(0);
    expect(await sync(partnerId, scriptedRegistry([]))).toEqual(counts(1, 0));
  });

  test('the next window begins 48 hours before the end of the last, and the first at the beginning', async () => {
    const { partnerId } = await createPartner(database.sql);
    const registry = scriptedRegistry([]);
    await sync(partnerId, registry);
    await sync(partnerId, registry);
    const [first, second] = registry.asked;
    expect(first?.from).toEqual(new Date(0));
    expect(second?.from.getTime()).toBe((first?.until.getTime() ?? 0) - 48 * 3_600_000);
    expect(registry.asked.every((query) => query.partnerId === partnerId)).toBe(true);
  });

  test('a record that cannot be recorded is counted, and does not stand in the way', async () => {
    const own = await createPartner(database.sql);
    const [poisoned, healthy] = [await newLoan(own), await newLoan(own)];
    const { partnerId } = own;
    const data = { ...END, on: 'yesterday' };
    const registry = scriptedRegistry([
      { reference: 'poison-1', partnerId, loanId: poisoned, data },
      { reference: 'poison-2', partnerId, loanId: healthy, data: END },
    ]);
    expect(await sync(partnerId, registry)).toEqual(counts(1, 0, { failed: 1 }));
    expect(await eventTypes(database.sql, poisoned)).toEqual(['emprestimo.contratado']);
    expect(await lastTypes(healthy, 1)).toEqual(['trabalhador.desligado']);
    await database.sql`update bond_records set data = ${JSON.stringify(END)}::text::json where reference = 'poison-1'`;
    expect(await sync(partnerId, registry)).toEqual(counts(1, 0));
  });

  test('a database that is out of reach ends the sync instead of failing every record', async () => {
    const own = await createPartner(database.sql);
    await reportEnd(await newLoan(own), own);
    const away = poolWith(database.pool, { transaction: () => Promise.reject(new DatabaseUnavailable('away')) });
    const deps = { pool: away, registry: simulated.registry, log: silentLog };
    const scope = { partnerId: own.partnerId, actor: 'test', requestId: null };
    await expect(syncBonds(deps, scope)).rejects.toThrow('away');
    expect(await sync(own.partnerId)).toEqual(counts(1, 0));
  });

  test('records beyond one page are all detected', async () => {
    const own = await createPartner(database.sql);
    const loans = await Promise.all(Array.from({ length: 5 }, () => newLoan(own)));
    await database.sql`
      insert into simulated_bonds (kind, partner_id, loan_id, data)
      select 'ended', ${own.partnerId}, ${loans[0] ?? ''}, ${JSON.stringify(END)}::text::json from generate_series(1, 1100)`;
    for (const loanId of loans.slice(1)) await reportEnd(loanId, own);
    expect(await sync(own.partnerId)).toEqual(counts(5, 0));
  });
});

describe('a rehire', () => {
  test('is told only after the loan was closed for end of bond, whenever the registry knew of it', async () => {
    const loan = await disbursedLoan(database.pool, partner, '2026-01-31');
    await reportNew(loan.id);
    expect(await sync()).toEqual(counts(0, 0));
    await reportEnd(loan.id);
    expect(await sync()).toEqual(counts(1, 1));
    expect(await sync()).toEqual(counts(0, 0));
    expect(await lastTypes(loan.id, 2)).toEqual(['trabalhador.desligado', 'trabalhador.vinculo_novo']);
    expect(Object.entries((await rehires(loan.id))[0] ?? {})).toEqual([
      ['cpf_trabalhador', loan.workerCpf],
      ['nome_trabalhador', loan.workerName],
      ['novo_empregador', REHIRE.employer],
      ['data_admissao', '2026-07-15'],
      ['margem_disponivel', 120.33],
      ['emprestimo_id', loan.id],
      ['saldo_pendente', 1443.96],
      ['averbavel', true],
    ]);
  });

  test('after which another follows is told again, each with its own margin', async () => {
    const loanId = await newLoan();
    await reportEnd(loanId);
    await reportNew(loanId);
    await reportNew(loanId, { ...REHIRE, availableMarginCentavos: 12_032 });
    expect(await sync()).toEqual(counts(1, 2));
    expect((await rehires(loanId)).map(({ averbavel }) => averbavel)).toEqual([true, false]);
  });

  test('tells the balance without the installments of closed batches, before and after a closing', async () => {
    const { pool } = database;
    const own = await createPartner(database.sql);
    const now = new Date('2026-09-10T12:00:00Z');
    // Disbursed long ago but recorded late: the batch of February was closed without it, so March's counts two of it.
    await closeSettlement(pool, own, '2026-02', now);
    const loan = await disbursedLoan(pool, own, '2026-01-31');
    await closeSettlement(pool, own, '2026-03', now);
    await closeSettlement(pool, own, '2026-04', now);
    const reported = { partnerId: own.partnerId, loanId: loan.id };
    await reportEndOfBond(database.sql, reported, END);
    await reportRehire(database.sql, reported, REHIRE);
    expect(await sync(own.partnerId)).toEqual(counts(1, 1));
    // A closed loan is in no later batch.
    await closeSettlement(pool, own, '2026-05', now);
    await reportRehire(database.sql, reported, REHIRE);
    expect(await sync(own.partnerId)).toEqual(counts(0, 1));
    const balances = (await rehires(loan.id)).map(({ saldo_pendente: balance }) => balance);
    expect(balances).toEqual([1082.97, 1082.97]);
  });

  test('waits for a closing under way, so that its balance is the one after it', async () => {
    const own = await createPartner(database.sql);
    const loan = await disbursedLoan(database.pool, own, '2026-01-31');
    const reported = { partnerId: own.partnerId, loanId: loan.id };
    await reportEndOfBond(database.sql, reported, END);
    await sync(own.partnerId);
    await reportRehire(database.sql, reported, REHIRE);
    let syncing: Promise<SyncCounts> | undefined;
    await database.pool.transaction(async (tx) => {
      await tx`select 1 from partners where id = ${own.partnerId} for no key update`;
      syncing = sync(own.partnerId);
      await expect
        .poll(async () => (await database.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock'`).length)
        .toBeGreaterThan(0);
      const [settlement] = await tx<[{ id: string }]>`
        insert into settlements (partner_id, month, installments, contracts, total_centavos, closed_at)
        values (${own.partnerId}, '2026-02', 1, 1, 12033, now()) returning id`;
      await tx`
        insert into settled_installments (partner_id, loan_id, number, settlement_id)
        values (${own.partnerId}, ${loan.id}, 1, ${settlement.id})`;
    });
    expect(await syncing).toEqual(counts(0, 1));
    expect((await rehires(loan.id))[0]).toMatchObject({ saldo_pendente: 1323.63 });
  });
});

describe('the list', () => {
  test('is in the order of detection, a page at a time, and its data is the event', async () => {
    const own = await createPartner(database.sql);
    const loans = await Promise.all(Array.from({ length: 5 }, () => newLoan(own)));
    for (const loanId of loans.toReversed()) await reportEnd(loanId, own);
    await sync(own.partnerId);
    const query = { partnerId: own.partnerId, kind: 'ended', from: null, until: null, limit: 2 } as const;
    const seen: string[] = [];
    const read = (after: BondPlace | null) => readBonds(database.pool, { ...query, after });
    for (let page = await read(null); ; page = await read(page.bonds.at(-1) ?? null)) {
      seen.push(...page.bonds.map(({ data }) => data.emprestimo_id));
      if (!page.hasMore) break;
    }
    expect(seen).toEqual(loans.toReversed());
    const { bonds } = await readBonds(database.pool, { ...query, after: null, limit: 50 });
    const [event] = await database.sql<{ text: string }[]>`
      select data::text as text from events where stream = ${seen[0] ?? ''} and type = 'trabalhador.desligado'`;
    expect(JSON.stringify(bonds[0]?.data)).toBe(event?.text);
    const second = bonds[1]?.detectedAt ?? new Date(0);
    const between = await readBonds(database.pool, {
      ...query,
      after: null,
      limit: 50,
      from: second,
      until: bonds[3]?.detectedAt ?? null,
    });
    expect(between.bonds.map(({ id }) => id)).toEqual(bonds.slice(1, 3).map(({ id }) => id));
  });
});

test('a reference that comes again for another loan is refused and told; the first record stands', async () => {
  const [first, second] = [await newLoan(), await newLoan()];
  const of = (loanId: string): EndedBond => ({ reference: 'LIE', partnerId: partner.partnerId, loanId, data: END });
  const lying: BondRegistry = {
    async *endedBonds() {
      // Pages come one after the other; what is in one is worked on at once.
      yield [of(first)];
      yield [of(second)];
    },
    async *newBonds() {
      yield [];
    },
  };
  expect(await sync(partner.partnerId, lying)).toMatchObject({ failed: 0, refused: 1 });
  const kept = await database.sql`select loan_id from bond_records where reference = 'LIE'`;
  expect(kept).toEqual([{ loan_id: first }]);
  expect(await lastTypes(second, 1)).not.toContain('trabalhador.desligado');
});

describe('a record of a loan that is not there', () => {
  /** A loan that comes after what the registry told of it: its id is known, as of one that is imported later. */
  async function whenLoanComes(reported: { readonly partnerId: string }, owner: typeof partner) {
    const id = crypto.randomUUID();
    const record: EndedBond = { reference: `early-${id}`, partnerId: reported.partnerId, loanId: id, data: END };
    const report = scriptedRegistry([record]);
    const waiting = [await sync(reported.partnerId, report), await sync(reported.partnerId, report)];
    const data = { ...contract(), emprestimo_id: id, numero: `9${id.slice(0, 8)}` };
    await database.sql`
      select append_event(${id}, 0, 'emprestimo.contratado', ${owner.partnerId}, ${JSON.stringify(data)}::text::json, 'core-banking')`;
    await projectUntil({ pool: database.pool, log: silentLog }, new Date(), 10_000);
    // The registry does not tell it again.
    return { id, waiting, after: await sync(reported.partnerId, scriptedRegistry([])) };
  }

  test('waits, once however often it is told, and is applied by the first sync after the loan came', async () => {
    const own = await createPartner(database.sql);
    const { id, waiting, after } = await whenLoanComes(own, own);
    expect(waiting).toEqual([counts(0, 0, { unknown: 1 }), counts(0, 0, { unknown: 1 })]);
    expect(after).toEqual(counts(1, 0));
    expect(await lastTypes(id, 1)).toEqual(['trabalhador.desligado']);
    expect(await sync(own.partnerId, scriptedRegistry([]))).toEqual(counts(0, 0));
    expect(await database.sql`select from bonds_unknown`).toHaveLength(0);
  });

  test('is refused when the loan comes and is of another partner', async () => {
    const [own, stranger] = [await createPartner(database.sql), await createPartner(database.sql)];
    const { id, after } = await whenLoanComes(stranger, own);
    expect(after).toEqual(counts(0, 0, { refused: 1 }));
    expect(await lastTypes(id, 1)).toEqual(['emprestimo.contratado']);
    expect(await sync(stranger.partnerId, scriptedRegistry([]))).toEqual(counts(0, 0));
  });

  test('is refused under the reference of another one that waits', async () => {
    const { partnerId } = await createPartner(database.sql);
    const of = (): EndedBond => ({ reference: 'TWICE', partnerId, loanId: crypto.randomUUID(), data: END });
    expect(await sync(partnerId, scriptedRegistry([of(), of()]))).toEqual(counts(0, 0, { unknown: 1, refused: 1 }));
    await database.sql`delete from bonds_unknown`;
  });

  test('is kept up to a bound, beyond which it is refused', async () => {
    const { partnerId } = await createPartner(database.sql);
    await database.sql`
      insert into bonds_unknown (kind, reference, partner_id, loan_id, data)
      select 'new', 'full-' || n, ${partnerId}, gen_random_uuid(), '{}' from generate_series(1, 99999) as n`;
    const of = (reference: string): EndedBond => ({ reference, partnerId, loanId: crypto.randomUUID(), data: END });
    const reported = [of('room'), of('no-room')].toSorted((a, b) => (a.reference < b.reference ? 1 : -1));
    expect(await sync(partnerId, scriptedRegistry(reported))).toEqual(counts(0, 0, { unknown: 100_000, refused: 1 }));
    await database.sql`delete from bonds_unknown`;
  });
});

test('a record that does not fit is counted as refused and logged, and the others are detected', async () => {
  const own = await createPartner(database.sql);
  const loanId = await newLoan(own);
  const good: EndedBond = { reference: 'fits', partnerId: own.partnerId, loanId, data: END };
  const { endedBonds, newBonds } = scriptedRegistry([good]);
  const registry: BondRegistry = {
    endedBonds(query) {
      query.onMisshapen('GET /vinculos/desligamentos: itens.0.referencia: is missing');
      return endedBonds(query);
    },
    newBonds,
  };
  expect(await sync(own.partnerId, registry)).toEqual(counts(1, 0, { refused: 1 }));
});
