/**
 * One record of the registry becomes one event on its loan.
 *
 * Invariant: a record emits once, even if several syncs read it. The event's transaction locks the partner's row, checks that
 * `detected_at` is unset, and sets it. All detections of a partner queue on that row, so `detected_at` grows in commit order,
 * and a reader that continues after its last row misses none. Closing a month locks the same row, so it misses no batch that is
 * about to commit (settlement.ts). The lock is NO KEY UPDATE, which does not block appends to other loans.
 *
 * Crash: before the commit, the record stays open.
 * Alternative: locking the record's own row; rows could then appear behind a reader's cursor.
 */
import type { Result } from '../../contract/refusals.ts';
import { lockPartner } from '../../db/partner-lock.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { Command } from '../../loan/command.ts';
import type { LoanState } from '../../loan/state.ts';
import type { EndOfBond, Rehire } from '../../registry/bonds-port.ts';
import { countSettled } from '../settlement/installments.ts';
import { type Asker, handleLoan, type HandlingRefusal, type Transactor } from '../loans/handle-loan.ts';

export type OpenRecord = {
  readonly id: string;
  readonly partnerId: string;
  readonly loanId: string;
} & ReportedBond;

type ReportedBond =
  | { readonly kind: 'ended'; readonly data: EndOfBond }
  | { readonly kind: 'new'; readonly data: Rehire };

class DetectedElsewhere extends Error {
  override name = 'DetectedElsewhere';
}

/** True when this call emitted the record's event; false when the loan refuses it, or another sync was first. */
export async function detect(
  pool: Pool,
  record: OpenRecord,
  { actor, requestId }: { readonly actor: string; readonly requestId: string | null },
): Promise<boolean> {
  const { partnerId, loanId } = record;
  try {
    const handled = await handleLoan(
      pool,
      { partnerId, actor, requestId },
      loanId,
      async (_now, { tx, state }) => {
        await fence(tx, record);
        return toCommand(tx, record, state);
      },
      (tx, { state }) => mark(tx, record, state.version),
    );
    return 'ok' in handled;
  } catch (error) {
    if (error instanceof DetectedElsewhere) return false;
    throw error;
  }
}

/** What the lender's core knows of a bond itself: kept and emitted at once, or refused by the loan. The record's id. */
export async function reportBond(
  within: Transactor,
  asker: Asker,
  loanId: string,
  reported: ReportedBond,
): Promise<Result<string, HandlingRefusal>> {
  let id = '';
  const handled = await handleLoan(
    within,
    asker,
    loanId,
    async (_now, { tx, partnerId, state }) => {
      await lockPartner(tx, partnerId);
      [{ id }] = await tx<[{ id: string }]>`select uuidv7() as id`;
      return toCommand(tx, { ...reported, id, partnerId, loanId }, state);
    },
    async (tx, { partnerId, state }) => {
      await tx`
        insert into bond_records (id, kind, reference, partner_id, loan_id, data)
        values (${id}, ${reported.kind}, ${`nucleo:${id}`}, ${partnerId}, ${loanId}, ${JSON.stringify(reported.data)}::text::json)`;
      await mark(tx, { ...reported, id, partnerId, loanId }, state.version);
    },
  );
  return 'refused' in handled ? handled : { ok: id };
}

async function fence(tx: Tx, { id, partnerId }: OpenRecord): Promise<void> {
  await lockPartner(tx, partnerId);
  const open = await tx`select from bond_records where id = ${id} and detected_at is null`;
  if (open.length === 0) throw new DetectedElsewhere(`record ${id} was detected by another sync`);
}

async function toCommand(tx: Tx, record: OpenRecord, state: LoanState): Promise<Command> {
  if (record.kind === 'ended') return { type: 'endBond', ...record.data };
  const settled = await countSettled(tx, record.partnerId, state);
  const outstandingCentavos = state.installmentCentavos * (state.installments - settled);
  return { type: 'recordNewBond', ...record.data, outstandingCentavos };
}

/** Marks the record with the event's data as the partner gets it, a little later than any other of its kind. */
async function mark(tx: Tx, { id, kind, partnerId, loanId }: OpenRecord, version: number): Promise<void> {
  await tx`
    update bond_records
    set detected_at = greatest(
          clock_timestamp(),
          (select max(detected_at) + interval '1 millisecond'
           from bond_records where partner_id = ${partnerId} and kind = ${kind} and detected_at is not null)),
        emitted = e.data,
        event_id = e.id
    from events e
    where bond_records.id = ${id} and e.stream = ${loanId} and e.version = ${version}`;
}
