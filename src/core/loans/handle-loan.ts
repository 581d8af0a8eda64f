/**
 * One command to one loan, in one transaction: read the stream, decide, append, project.
 *
 * Invariant: the facts, their deliveries, the projection and what `within` writes commit together, and the facts were decided on
 * exactly the version they follow. Of two commands on one version, the later waits in `append_event`, gets a `VersionConflict` and
 * is decided again on fresh state, so only a state refuses. Alternative: locking the loan's row first is one more round trip for
 * every command, and conflicts are rare.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ERASED } from '../../contract/erasure.ts';
import { NOT_FOUND, type Refused, type Result } from '../../contract/refusals.ts';
import { id as idSchema } from '../../contract/values.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import type { Command, LoanRefusal } from '../../loan/command.ts';
import { decide } from '../../loan/decide.ts';
import { evolve } from '../../loan/evolve.ts';
import type { LoanState } from '../../loan/state.ts';
import { append, type Provenance, VersionConflict } from '../../log/append.ts';
import { readClock, readStream } from '../../log/read.ts';
import { foldLoan, project } from './loan-projection.ts';

/** One of 50 commands that arrive together loses at most 49 times; the rest is slack. */
const MAX_TRIES = 60;
const MAX_PAUSE_MS = 20;

/** Where a command runs: a pool, or what makes its transaction a part of a larger one. */
export type Transactor = Pick<Pool, 'transaction'>;

/** Who asks; without a partner it is the lender's own system, and the loan says whose it is. */
export type Asker = Omit<Provenance, 'partnerId'> & { readonly partnerId: string | null };

const FORGOTTEN = {
  what: 'Nada mais se faz neste empréstimo',
  why: 'e os dados do trabalhador foram apagados',
} as const;

interface Deciding {
  readonly tx: Tx;
  readonly partnerId: string;
  /** The loan as the command will meet it. */
  readonly state: LoanState;
}

/**
 * Makes the command, or refuses the id or number that it would bring; `now` is the database's clock. It may read in the transaction,
 * and runs again after a conflict.
 */
export type ToCommand = (now: Date, deciding: Deciding) => Command | Promise<Command | Refused<'taken'>>;

/** Writes rows that must commit with the facts; `state` is the loan after them. */
export type Within = (
  tx: Tx,
  decided: { readonly partnerId: string; readonly state: LoanState; readonly now: Date },
) => Promise<unknown>;

/** The loan after the command. `notFound` also stands for another partner's loan, and for an id that is none. */
export type Handled = Result<LoanState, HandlingRefusal>;
/** `taken`: what the lender's core calls something by is another's already. */
export type HandlingRefusal = LoanRefusal | 'taken';

/** Handles one command. Throws `DatabaseUnavailable` (it may have committed), and `VersionConflict` when every try lost. */
export async function handleLoan(
  pool: Transactor,
  asker: Asker,
  loanId: string,
  toCommand: ToCommand,
  within?: Within,
): Promise<Handled> {
  if (!idSchema.safeParse(loanId).success) return NOT_FOUND;
  for (let tries = 1; ; tries += 1) {
    try {
      return await pool.transaction((tx) => handleOnce(tx, asker, loanId, toCommand, within));
    } catch (error) {
      if (!(error instanceof VersionConflict) || tries === MAX_TRIES) throw error;
    }
    await sleep(randomInt(Math.min(tries, MAX_PAUSE_MS) + 1));
  }
}

async function handleOnce(
  tx: Tx,
  asker: Asker,
  loanId: string,
  toCommand: ToCommand,
  within?: Within,
): Promise<Handled> {
  const [events, now] = await Promise.all([readStream(tx, loanId), readClock(tx)]);
  const loan = foldLoan(loanId, events);
  if (loan === null || (asker.partnerId !== null && asker.partnerId !== loan.partnerId)) return NOT_FOUND;
  const { state, partnerId } = loan;
  if (state.workerCpf === ERASED) return { refused: { kind: 'loanState', ...FORGOTTEN, status: state.status } };
  const command = await toCommand(now, { tx, partnerId, state });
  if ('refused' in command) return command;
  const handled: Handled = await decideAndAppend(tx, { ...asker, partnerId }, loanId, command, state, now);
  if ('ok' in handled) await within?.(tx, { partnerId, state: handled.ok, now });
  return handled;
}

/** Decides on `state`, which is null for a new loan, appends the facts and writes the projection. */
export async function decideAndAppend(
  tx: Tx,
  provenance: Provenance,
  loanId: string,
  command: Command,
  state: LoanState | null,
  now: Date,
): Promise<Result<LoanState, LoanRefusal>> {
  const decision = decide(command, state);
  if ('refused' in decision) return decision;
  const facts = decision.ok;
  const expectedVersion = state?.version ?? 0;
  await append(tx, { ...provenance, stream: loanId, expectedVersion, facts, occurredAt: now });
  let next = state;
  for (const [index, fact] of facts.entries())
    next = evolve(next, { ...fact, version: expectedVersion + 1 + index, occurredAt: now });
  if (next === null) throw new Error(`${command.type} made no loan`);
  await project(tx, [{ partnerId: provenance.partnerId, state: next }]);
  return { ok: next };
}
