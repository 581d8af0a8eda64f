/** What follows from events that a core in another language appends, as the projector makes it true. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { dayOf } from '../../src/contract/calendar.ts';
import { contract as specContract } from '../loan/loan-spec.ts';
import { findUnexpected } from '../../src/audit/unexpected-facts.ts';
import { projectBatch, projectUntil, readProjectorLagS } from '../../src/core/projection/projector.ts';
import { readBonds } from '../../src/core/bonds/read-bonds.ts';
import { readLoan } from '../../src/core/loans/read-loan.ts';
import { rebuildLoans } from '../../src/core/projection/rebuild.ts';
import { recordRegistration, requestRegistration } from '../../src/core/loans/registration.ts';
import { closeSettlement } from '../../src/core/settlement/settlement.ts';
import type { Sql } from '../../src/db/pool.ts';
import type { LogFields, Logger } from '../../src/log-lines.ts';
import type { Provenance } from '../../src/log/append.ts';
import { createTestDatabase } from '../support/database.ts';
import { untilSettled } from '../support/settled.ts';
import { disbursedLoan, registeredLoan, registeringLoan } from './disbursed-loans.ts';
import { accepted, createPartner } from './loan-world.ts';

let partner: Provenance;
const faults: LogFields[] = [];
const log: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields) => void faults.push(fields),
};

const database = await createTestDatabase();
partner = await createPartner(database.sql);

/** Takes turns until nothing that is settled is left. */
async function project(limit?: number): Promise<number> {
  await untilSettled(database.sql);
  let events = 0;
  for (;;) {
    const batch = await projectBatch({ pool: database.pool, log }, limit === undefined ? {} : { limit });
    expect(batch.isOurs).toBe(true);
    events += batch.events;
    if (!batch.more) return events;
  }
}

async function append(
  stream: string,
  version: number,
  type: string,
  data: object,
  { sql = database.sql, partnerId = partner.partnerId }: { sql?: Sql; partnerId?: string } = {},
): Promise<void> {
  await sql`
    select append_event(${stream}, ${version}, ${type}, ${partnerId}, ${JSON.stringify(data)}::text::json, 'core-banking', null,
                        ${version === 0 && type === 'emprestimo.contratado' ? '2026-01-15T12:00:00.000Z' : null})`;
}

const numberOf = (id: string) => `2026-${id.slice(0, 8)}`;
const contractOf = (id: string, numero = numberOf(id)) => ({ ...specContract(), emprestimo_id: id, numero });
const settledOf = (id: string, numero = numberOf(id)) => ({
  emprestimo_id: id,
  numero_emprestimo: numero,
  valor_liberado: 1234.5,
  data_liberacao: '2026-01-31',
});

/** A loan that only SQL knows of. */
async function foreignLoan(numero?: string): Promise<string> {
  const id = randomUUID();
  await append(id, 0, 'emprestimo.contratado', contractOf(id, numero));
  return id;
}

async function rowOf(id: string) {
  const [row] = await database.sql<{ version: number; status: string; writtenBy: string }[]>`
    select version, status, xmin::text as "writtenBy" from loans where id = ${id}`;
  return row;
}

const read = (id: string) => readLoan(database.pool, partner.partnerId, id);

describe('a turn', () => {
  test('writes a loan that was made by SQL alone', async () => {
    const [one, other] = [await foreignLoan(), await foreignLoan()];
    expect(await rowOf(one)).toBeUndefined();
    await project();
    expect(await rowOf(one)).toMatchObject({ version: 1, status: 'em_assinatura' });
    expect(await rowOf(other)).toMatchObject({ version: 1, status: 'em_assinatura' });
  });

  test('leaves alone what our own core has written', async () => {
    const { id } = await disbursedLoan(database.pool, partner, '2026-01-31');
    const before = await rowOf(id);
    expect(await project()).toBeGreaterThan(4);
    expect(await rowOf(id)).toEqual(before);
  });

  test('goes on where the last one stopped, whatever its limit, and repeats one that failed as a whole', async () => {
    const ids = [await foreignLoan(), await foreignLoan(), await foreignLoan()];
    await database.sql`alter table loans rename to gone`;
    await expect(project(1)).rejects.toThrow('loans');
    await database.sql`alter table gone rename to loans`;
    expect(await project(1)).toBe(3);
    for (const id of ids) expect(await rowOf(id)).toMatchObject({ version: 1 });
    expect(await project()).toBe(0);
  });

  test('is refused while another projector is at work', async () => {
    await database.pool.transaction(async (tx) => {
      await tx`select pg_advisory_xact_lock(advisory_lock('projecting'))`;
      expect(await projectBatch({ pool: database.pool, log })).toEqual({ isOurs: false, events: 0, more: false });
    });
  });

  test('misses nothing that commits late: it waits for what began before', async () => {
    const id = await foreignLoan();
    await project();
    let later = '';
    await database.sql.begin(async (sql) => {
      await append(id, 1, 'desembolso.liquidado', settledOf(id), { sql: sql as unknown as Sql });
      later = await foreignLoan();
      // Committed after and positioned behind: passing it would leave the open one behind the place for good.
      await projectBatch({ pool: database.pool, log });
      expect(await rowOf(later)).toBeUndefined();
    });
    await project();
    expect(await rowOf(later)).toMatchObject({ version: 1 });
    expect(await rowOf(id)).toMatchObject({ version: 2, status: 'desembolsada' });
  });
});

describe('a stream that no decision would have written', () => {
  test('does not stop the projector, is no loan without a contract, and is told to auditors', async () => {
    const [start, orphan, next] = [new Date(Date.now() - 3_600_000), randomUUID(), randomUUID()];
    await append(orphan, 0, 'desembolso.liquidado', settledOf(orphan));
    await append(next, 0, 'emprestimo.contratado', contractOf(next));
    await append(next, 1, 'desembolso.liquidado', settledOf(next));
    await project();
    expect(await rowOf(orphan)).toBeUndefined();
    expect(await read(orphan)).toBeNull();
    expect(await rowOf(next)).toMatchObject({ version: 2, status: 'desembolsada' });
    expect(await read(next)).toMatchObject({ disbursedOn: '2026-01-31' });
    const span = { start, end: new Date(Date.now() + 60_000) };
    const found = await findUnexpected(database.pool, span);
    const events = await database.sql<{ id: string; stream: string }[]>`
      select id, stream from events where stream in (${orphan}, ${next}) and type = 'desembolso.liquidado'`;
    const byEvent = new Map(found.map((difference) => [difference.evento_id, difference]));
    for (const { id, stream } of events) {
      expect(byEvent.get(id)).toMatchObject({
        tipo: 'fato_inesperado',
        parceiro_id: partner.partnerId,
        detalhe: expect.stringContaining(stream === orphan ? 'contratação' : 'em_assinatura'),
      });
    }
    await append(orphan, 1, 'emprestimo.contratado', contractOf(orphan));
    expect(await read(orphan)).toMatchObject({ version: 2, status: 'desembolsada' });
  });

  test("is refused where the event would be sent to another partner than the loan's", async () => {
    const stranger = await createPartner(database.sql);
    const id = await foreignLoan();
    const appending = append(id, 1, 'desembolso.liquidado', settledOf(id), { partnerId: stranger.partnerId });
    await expect(appending).rejects.toMatchObject({
      code: 'CT403',
      message: expect.stringContaining('not of partner'),
    });
    await project();
    expect(await read(id)).toMatchObject({ version: 1, status: 'em_assinatura' });
    expect(await readLoan(database.pool, stranger.partnerId, id)).toBeNull();
  });

  test('that no table can hold is passed and logged; rebuild writes it once it can be', async () => {
    const [broken, whole] = [await foreignLoan(), await foreignLoan()];
    const [{ data }] = await database.sql<[{ data: object }]>`select data from events where stream = ${broken}`;
    const unheld = JSON.stringify({ ...data, nome_trabalhador: '\0' });
    await database.sql`update events set data = ${unheld}::text::json where stream = ${broken}`;
    faults.length = 0;
    await project();
    expect(faults).toMatchObject([
      { fault: expect.stringContaining('u0000') as string },
      { loans: 2 },
      { loanId: broken },
    ]);
    expect(await rowOf(whole)).toMatchObject({ version: 1 });
    expect(await rowOf(broken)).toBeUndefined();
    await database.sql`update events set data = ${JSON.stringify(data)}::text::json where stream = ${broken}`;
    expect(await project()).toBe(0);
    expect(await rebuildLoans(database.pool, log, { repair: false })).toMatchObject({ differences: [broken] });
    expect(await rebuildLoans(database.pool, log, { repair: true })).toMatchObject({
      differences: [broken],
      repaired: 1,
    });
    expect(await rowOf(broken)).toMatchObject({ version: 1 });
  });
});

describe('a read', () => {
  test('shows what was committed a moment ago, at every version, and writes what it found', async () => {
    const id = await foreignLoan();
    await append(id, 1, 'desembolso.liquidado', settledOf(id));
    expect(await readLoan(database.pool, partner.partnerId, id, 1)).toMatchObject({
      version: 1,
      status: 'em_assinatura',
    });
    expect(await readLoan(database.pool, partner.partnerId, id, 2)).toEqual(await read(id));
    expect(await readLoan(database.pool, partner.partnerId, id, 3)).toBeNull();
    expect(await rowOf(id)).toMatchObject({ version: 2, status: 'desembolsada' });
  });

  test('answers where nothing can be written', async () => {
    const id = await foreignLoan();
    await database.sql`create rule refused as on insert to loans do instead select 1 / 0`;
    expect(await read(id)).toMatchObject({ version: 1 });
    await database.sql`drop rule refused on loans`;
    expect(await rowOf(id)).toBeUndefined();
  });
});

describe('bonds', () => {
  const ended = (id: string) => ({
    emprestimo_id: id,
    numero_emprestimo: '2026-00000001',
    cpf_trabalhador: '52998224725',
    matricula: 'M-17',
    nome_trabalhador: 'Ana Souza',
    data_desligamento: '2026-05-01',
    motivo_desligamento: { codigo: '02', descricao: 'Sem justa causa' },
    situacao_emprestimo: { codigo: 'encerrado_desligamento', descricao: 'Encerrado por desligamento' },
  });
  const listed = async (provenance: Provenance) =>
    (
      await readBonds(database.pool, {
        partnerId: provenance.partnerId,
        kind: 'ended',
        from: null,
        until: null,
        after: null,
        limit: 50,
      })
    ).bonds.map(({ data }) => data);

  test('that SQL appended are listed once, and rebuild brings back what is missing', async () => {
    const id = await foreignLoan();
    await append(id, 1, 'trabalhador.desligado', ended(id));
    await project();
    expect(await listed(partner)).toEqual([ended(id)]);
    await database.sql`update projections set tx = '0', position = 0 where name = 'loans'`;
    await project();
    expect(await listed(partner)).toEqual([ended(id)]);
    await database.sql`delete from bond_records where loan_id = ${id}`;
    expect(await rebuildLoans(database.pool, log, { repair: false })).toMatchObject({ differences: [id], repaired: 0 });
    expect(await rebuildLoans(database.pool, log, { repair: true })).toMatchObject({ differences: [id], repaired: 1 });
    expect(await listed(partner)).toEqual([ended(id)]);
  });
});

describe('settlements', () => {
  const NOW = new Date('2026-06-15T12:00:00Z');

  test('count a loan that SQL alone knows of, before the projector and after it', async () => {
    partner = await createPartner(database.sql);
    const id = await foreignLoan();
    await append(id, 1, 'desembolso.liquidado', settledOf(id));
    const first = await closeSettlement(database.pool, partner, '2026-02', NOW);
    expect(first).toMatchObject({ ok: { settlement: { total_parcelas: 1, valor_total: 120.33 } } });
    await project();
    const second = await closeSettlement(database.pool, partner, '2026-03', NOW);
    expect(second).toMatchObject({ ok: { settlement: { total_parcelas: 1 } } });
  });

  test('that SQL closed are not closed again, and settle their installments', async () => {
    partner = await createPartner(database.sql);
    const loan = await disbursedLoan(database.pool, partner, '2026-01-31');
    const reported = {
      repasse_id: randomUUID(),
      competencia: '2026-02',
      total_parcelas: 1,
      numero_ccbs: 1,
      valor_total: 120.33,
      fechado_em: '2026-03-01T12:00:00.000Z',
    };
    await append(reported.repasse_id, 0, 'repasse.processado', reported);
    // Seen by the closing itself, then by the projector, which finds nothing to do.
    expect(await closeSettlement(database.pool, partner, '2026-02', NOW)).toEqual({
      ok: { settlement: reported, alreadyClosed: true },
    });
    await project();
    const settled =
      await database.sql`select number, settlement_id from settled_installments where loan_id = ${loan.id}`;
    expect([...settled]).toEqual([{ number: 1, settlement_id: reported.repasse_id }]);
    expect(await closeSettlement(database.pool, partner, '2026-03', NOW)).toMatchObject({
      ok: { settlement: { total_parcelas: 1 } },
    });
  });

  test('of a nonsense that the tables refuse are passed and logged', async () => {
    const id = randomUUID();
    const reported = {
      repasse_id: id,
      competencia: '2026-04',
      total_parcelas: 0,
      numero_ccbs: 5,
      valor_total: 1,
      fechado_em: '2026-05-01T12:00:00.000Z',
    };
    await append(id, 0, 'repasse.processado', reported);
    const after = await foreignLoan();
    faults.length = 0;
    await project();
    expect(faults).toMatchObject([{ code: '23514' }]);
    expect(await rowOf(after)).toMatchObject({ version: 1 });
    await database.sql`update events set data = ${JSON.stringify({ ...reported, total_parcelas: 5 })}::text::json where stream = ${id}`;
    expect(await rebuildLoans(database.pool, log, { repair: true })).toMatchObject({ differences: [id], repaired: 1 });
  });
});

describe('a registration', () => {
  const work = async (loanId: string) =>
    (await database.sql`select status from registrations where loan_id = ${loanId} order by id`).map(
      ({ status }) => status,
    );

  test('that SQL asked for makes no work for us: that core talks to the registry itself', async () => {
    const id = await foreignLoan();
    await append(id, 1, 'assinatura.concluida', { emprestimo_id: id, tipo_assinatura: 'internal' });
    await append(id, 2, 'averbacao.solicitada', { emprestimo_id: id, averbacao_id: randomUUID() });
    await project();
    expect(await read(id)).toMatchObject({ registration: { status: 'processando' } });
    expect(await work(id)).toEqual([]);
  });

  test('of ours that SQL ended is asked about no more', async () => {
    const loan = await registeringLoan(database.pool, partner);
    const ids = { emprestimo_id: loan.id, averbacao_id: loan.registration?.id };
    await append(loan.id, loan.version, 'averbacao.concluida', { ...ids, protocolo_registry: 'REG-1' });
    await project();
    expect(await work(loan.id)).toEqual(['concluida']);
    const late = { loanId: loan.id, registrationId: loan.registration?.id ?? '', documentsDeadlineDays: 15 };
    const answer = { outcome: 'failed', error: 'tarde' } as const;
    expect(await recordRegistration(database.pool, partner, { ...late, answer })).toMatchObject({
      refused: { kind: 'loanState', what: expect.stringContaining('processamento') },
    });
  });

  test('of ours that SQL ended can be asked for again at once', async () => {
    const loan = await registeringLoan(database.pool, partner);
    const ids = { emprestimo_id: loan.id, averbacao_id: loan.registration?.id };
    await append(loan.id, loan.version, 'averbacao.falhou', { ...ids, erro: 'margem insuficiente' });
    await accepted(requestRegistration(database.pool, partner, loan.id));
    expect(await work(loan.id)).toEqual(['falhou', 'processando']);
  });
});

describe('how far it has come', () => {
  test('is the age of the oldest event that it has not seen', async () => {
    await project();
    expect(await database.pool.run(readProjectorLagS)).toBe(0);
    await foreignLoan();
    expect(await database.pool.run(readProjectorLagS)).toBeGreaterThan(0);
    await project();
    expect(await database.pool.run(readProjectorLagS)).toBe(0);
  });

  test('a closing waits for what began to write before the month was over, or says what is open', async () => {
    const deps = { pool: database.pool, log };
    await untilSettled(database.sql);
    const instant = new Date();
    await database.sql.begin(async (sql) => {
      await append(failed.emprestimo_id, 0, 'desembolso.falhou', { ...failed }, { sql: sql as unknown as Sql });
      const reason = await projectUntil(deps, new Date(Date.now() + 1), 0);
      expect(reason).toMatch(/has not passed .*process \d+ .*open since/);
    });
    expect(await projectUntil(deps, instant, 60_000)).toBeNull();
  });
});

const failed = { emprestimo_id: randomUUID(), numero_emprestimo: '2026-00000001', motivo: 'conta encerrada' };

test('a loan that is registered by us and settled by SQL is one life', async () => {
  const loan = await registeredLoan(database.pool, partner);
  await append(loan.id, loan.version, 'desembolso.liquidado', {
    ...settledOf(loan.id, loan.number),
    data_liberacao: dayOf(new Date()),
  });
  await project();
  expect(await rowOf(loan.id)).toMatchObject({ version: loan.version + 1, status: 'desembolsada' });
});
