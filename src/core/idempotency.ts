/**
 * The first answer to an idempotency key, kept in the transaction of what it made.
 *
 * Invariant: a key's row and what was made under it commit together, so a committed row always has its answer, and a key whose
 * transaction rolled back is free. The insert waits at most `waitMs` for another transaction with the key. Alternative: a row
 * marked "running" must be swept after a crash, and the sweeper cannot tell a dead request from a slow one.
 */
import { createHash } from 'node:crypto';
import type { RefusalKind, Result } from '../contract/refusals.ts';
import type { Pool, Tx } from '../db/pool.ts';

/** Must stay well below the pool's deadline. */
const WAIT_MS = 5_000;
const LOCK_NOT_AVAILABLE = '55P03';

/** What was answered: `body` is JSON and holds nothing that may be shown only once. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export interface KeyedRequest {
  readonly partnerId: string;
  /** Keys of different operations do not meet. */
  readonly operation: string;
  /** The Idempotency-Key as sent, 1 to 255 characters. */
  readonly key: string;
  /** The parsed request; the order of its keys does not matter. */
  readonly body: unknown;
  /** How long to wait for another transaction with this key; 5 s unless a test says less. */
  readonly waitMs?: number;
}

/** An answer, and whether an earlier request with the key had it first. */
export interface Once<A extends Answer> {
  readonly answer: A;
  readonly replayed: boolean;
}

/** `keyDiverges`: the key belongs to another request. `keyInProgress`: it is still being processed after the wait. */
export type KeyRefusal = 'keyDiverges' | 'keyInProgress';

/**
 * Runs `make` in a transaction once for each key and keeps its answer for the same body; nothing is kept if it throws or refuses.
 */
export async function once<A extends Answer, K extends RefusalKind = never>(
  pool: Pool,
  request: KeyedRequest,
  make: (tx: Tx) => Promise<Result<A, K>>,
): Promise<Result<Once<A>, K | KeyRefusal>> {
  const { partnerId, operation, key } = request;
  const hash = hashRequest(request.body);
  return pool.transaction<Result<Once<A>, K | KeyRefusal>>(async (tx) => {
    const taken = await take(tx, request, hash);
    if ('refused' in taken) return taken;
    if (!taken.ok) return recall<A>(tx, request, hash);
    const made = await make(tx);
    if ('refused' in made) return made;
    const { status, body } = made.ok;
    await tx`
      update idempotency_keys
      set status = ${status}, body = ${JSON.stringify(body)}::text::json
      where partner_id = ${partnerId} and operation = ${operation} and key = ${key}`;
    return { ok: { answer: made.ok, replayed: false } };
  });
}

/** True when the key is ours now; false when a committed row holds it. A wait that ran out has failed the transaction. */
async function take(tx: Tx, request: KeyedRequest, hash: Buffer): Promise<Result<boolean, 'keyInProgress'>> {
  const { partnerId, operation, key, waitMs = WAIT_MS } = request;
  try {
    const [, rows] = await Promise.all([
      tx`select set_config('lock_timeout', ${`${waitMs}ms`}, true)`,
      tx`
        insert into idempotency_keys (partner_id, operation, key, request_hash)
        values (${partnerId}, ${operation}, ${key}, ${hash})
        on conflict (partner_id, operation, key) do nothing
        returning key`,
      tx`select set_config('lock_timeout', '0', true)`,
    ]);
    return { ok: rows.length === 1 };
  } catch (error) {
    if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
    return { refused: { kind: 'keyInProgress' } };
  }
}

async function recall<A extends Answer>(
  tx: Tx,
  { partnerId, operation, key }: KeyedRequest,
  hash: Buffer,
): Promise<Result<Once<A>, 'keyDiverges'>> {
  const [row] = await tx<[{ same: boolean } & A]>`
    select request_hash = ${hash} as same, status, body
    from idempotency_keys
    where partner_id = ${partnerId} and operation = ${operation} and key = ${key}`;
  const { same, ...answer } = row;
  if (!same) return { refused: { kind: 'keyDiverges' } };
  return { ok: { answer: answer as unknown as A, replayed: true } };
}

/** SHA-256 of the request as JSON with sorted keys, so that equal requests are equal however they were written. */
export function hashRequest(body: unknown): Buffer {
  const sorted = JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256')
    .update(sorted ?? 'null')
    .digest();
}
