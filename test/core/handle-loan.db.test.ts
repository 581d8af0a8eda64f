import { describe, expect, test } from 'vitest';
import { handleLoan } from '../../src/core/loans/handle-loan.ts';
import { readLoan, readRegistration } from '../../src/core/loans/read-loan.ts';
import { recordRegistration, requestRegistration } from '../../src/core/loans/registration.ts';
import { fold } from '../../src/loan/evolve.ts';
import { readStream } from '../../src/log/read.ts';
import { FAILED_MARGIN } from '../support/payloads.ts';
import { accepted, createPartner, eventTypes, issueLoan, useOnePartner } from './loan-world.ts';
import { concludeIssuance, concludeSigning, failDisbursement, settleDisbursement } from '../../src/core/loans/steps.ts';

const { database, partner } = await useOnePartner();
const { pool, sql } = database;

async function newLoan(): Promise<string> {
  const { id } = await issueLoan(database.pool, partner);
  return id;
}

async function newRegisteredLoan(): Promise<string> {
  const loanId = await newLoan();
  await accepted(concludeSigning(pool, partner, loanId));
  const { registration } = await accepted(requestRegistration(pool, partner, loanId));
  const answer = { outcome: 'concluded', protocol: `REG-${loanId}` } as const;
  const end = { loanId, registrationId: registration?.id ?? '', answer, documentsDeadlineDays: 15 };
  await accepted(recordRegistration(pool, partner, end));
  return loanId;
}

describe('one command in one transaction', () => {
  test('what fails after the append leaves nothing behind', async () => {
    const loanId = await newLoan();
    const before = await readLoan(pool, partner.partnerId, loanId);
    const failing = handleLoan(
      pool,
      partner,
      loanId,
      () => ({ type: 'concludeSigning' }),
      () => Promise.reject(new Error('disk full')),
    );
    await expect(failing).rejects.toThrow('disk full');
    expect(await eventTypes(sql, loanId)).toEqual(['emprestimo.contratado']);
    expect(await readLoan(pool, partner.partnerId, loanId)).toEqual(before);
    expect(await sql`select from messages where type = 'assinatura.concluida'`).toHaveLength(0);
  });

  test('the projection is the fold of the log, at every version', async () => {
    const loanId = await newRegisteredLoan();
    const { disbursedOn } = await accepted(settleDisbursement(pool, partner, loanId));
    const events = await readStream(sql, loanId);
    expect(await readLoan(pool, partner.partnerId, loanId)).toEqual(fold(events));
    for (const { version } of events) {
      const folded = fold(events.slice(0, version));
      expect(await readLoan(pool, partner.partnerId, loanId, version)).toEqual(folded);
    }
    expect(await readLoan(pool, partner.partnerId, loanId, events.length + 1)).toBeNull();
    expect(await readLoan(pool, partner.partnerId, loanId, 10 ** 12)).toBeNull();
    const [row] = await sql`select status, number, disbursed_on, version from loans where id = ${loanId}`;
    expect(row).toMatchObject({ status: 'desembolsada', disbursed_on: disbursedOn, version: events.length });
  });

  test('a refusal is a value, names the state and appends nothing', async () => {
    const loanId = await newLoan();
    const refused = await settleDisbursement(database.pool, partner, loanId);
    expect(refused).toEqual({
      refused: { kind: 'loanState', what: 'Não há desembolso a liquidar', status: 'em_assinatura', why: null },
    });
    expect(await eventTypes(database.sql, loanId)).toHaveLength(1);
  });

  test('an unknown id, a malformed one, and the stream of another partner or thing are not found', async () => {
    const stranger = await createPartner(sql);
    const loanId = await newLoan();
    const [margin] = await sql<[{ id: string }]>`select uuidv7() as id`;
    await sql`
      select append_event(${margin.id}, 0, 'margem.falhou', ${partner.partnerId}, ${FAILED_MARGIN}::text::json, 'test')`;
    const ids = ['0198c0de-0000-7000-8000-000000000001', 'P-00000001', margin.id];
    for (const id of ids) {
      expect(await concludeSigning(pool, partner, id)).toEqual({ refused: { kind: 'notFound' } });
      expect(await readLoan(pool, partner.partnerId, id)).toBeNull();
    }
    expect(await concludeSigning(pool, stranger, loanId)).toEqual({ refused: { kind: 'notFound' } });
    expect(await readLoan(pool, stranger.partnerId, loanId)).toBeNull();
    expect(await readRegistration(pool, partner.partnerId, loanId)).toBeNull();
  });

  test('an asynchronous issuance swaps the provisional number for one of the year', async () => {
    const asynchronous = await createPartner(sql, { issuance: 'assincrona' });
    const loan = await issueLoan(pool, asynchronous, 'async');
    expect(loan).toMatchObject({ status: 'emitindo', numero: expect.stringMatching(/^P-\d{8}$/), versao: 1 });
    const state = await accepted(concludeIssuance(pool, asynchronous, loan.id));
    expect(state.number).toMatch(/^20\d\d-\d{8}$/);
  });
});

describe('commands that meet', () => {
  test('of 50 equal ones that only one can win, one wins and the rest are rejected', async () => {
    const loanId = await newLoan();
    const all = await Promise.all(Array.from({ length: 50 }, () => concludeSigning(pool, partner, loanId)));
    expect(all.filter((handled) => 'ok' in handled)).toHaveLength(1);
    expect(all.filter((handled) => 'refused' in handled)).toHaveLength(49);
    expect(await eventTypes(sql, loanId)).toEqual(['emprestimo.contratado', 'assinatura.concluida']);
  });

  test('50 that do not exclude one another all succeed, each on its own version', async () => {
    const loanId = await newRegisteredLoan();
    const reasons = Array.from({ length: 50 }, (_, index) => `motivo ${index}`);
    const states = await Promise.all(
      reasons.map((reason) => accepted(failDisbursement(pool, partner, loanId, reason))),
    );
    expect(new Set(states.map(({ version }) => version)).size).toBe(50);
    const rows = await sql<{ reason: string }[]>`
      select data ->> 'motivo' as reason from events where stream = ${loanId} and type = 'desembolso.falhou'`;
    expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set(reasons));
    expect(await readLoan(pool, partner.partnerId, loanId)).toEqual(fold(await readStream(sql, loanId)));
  });
});
