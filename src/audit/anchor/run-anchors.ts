/**
 * One round: each place that lacks the newest checkpoint gets it, side by side; a failure is kept and stops no other place.
 *
 * Crash between a place's answer and its row: the next round asks again; a time stamp then has a later time.
 */
import type { AnchorKind } from '../../contract/statuses.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { readCheckpoint, readConsistency, type StoredCheckpoint } from '../checkpoint/stored.ts';
import type { Anchor } from './anchor.ts';

export interface AnchorResult {
  readonly kind: AnchorKind;
  readonly place: string;
  /** Null if it has the checkpoint now. */
  readonly error: string | null;
}

/** Null when no checkpoint was signed yet. */
export async function runAnchors(
  pool: Pool,
  anchors: readonly Anchor[],
): Promise<{ readonly size: number; readonly results: readonly AnchorResult[] } | null> {
  await pool.run(async (sql) => {
    const [kinds, places] = [anchors.map(({ kind }) => kind), anchors.map(({ place }) => place)];
    await sql`
      insert into anchors (kind, place, active) select kind, place, true from unnest(${kinds}::text[], ${places}::text[]) as a (kind, place)
      on conflict (kind, place) do update set active = true`;
    await sql`
      update anchors set active = false
      where active and (kind, place) not in (select * from unnest(${kinds}::text[], ${places}::text[]))`;
  });
  const checkpoint = await pool.run((sql) => readCheckpoint(sql));
  if (checkpoint === null) return null;
  const results = await Promise.all(anchors.map((anchor) => runAnchor(pool, anchor, checkpoint)));
  return { size: checkpoint.size, results };
}

async function runAnchor(pool: Pool, anchor: Anchor, checkpoint: StoredCheckpoint): Promise<AnchorResult> {
  const { kind, place } = anchor;
  const { size } = checkpoint;
  const kept = await pool.run(
    (sql) => sql`select from anchor_receipts where kind = ${kind} and place = ${place} and size = ${size}`,
  );
  if (kept.length > 0) return { kind, place, error: null };
  try {
    const receipt = await anchor.put(checkpoint, async (old) => {
      const found = await pool.run((sql) => readConsistency(sql, old, size));
      return found?.path ?? [];
    });
    await pool.transaction(async (tx) => {
      await tx`insert into anchor_receipts (size, kind, place, receipt) values (${size}, ${kind}, ${place}, ${receipt})
               on conflict do nothing`;
      await tx`update anchors set size = ${size}, anchored_at = clock_timestamp(), error = null
               where kind = ${kind} and place = ${place}`;
    });
    return { kind, place, error: null };
  } catch (thrown) {
    const error = (thrown as Error).message;
    await pool.run((sql) => sql`update anchors set error = ${error} where kind = ${kind} and place = ${place}`);
    return { kind, place, error };
  }
}

interface AnchorStanding {
  readonly kind: AnchorKind;
  readonly place: string;
  /** Seals under the newest checkpoint that it has; 0: none. */
  readonly size: number;
  readonly error: string | null;
  /** Since when a checkpoint waits for it; 0 while it has the newest. */
  readonly lagS: number;
}

/** The places that are configured; none while the job is off. */
export async function readAnchors(sql: Tx): Promise<readonly AnchorStanding[]> {
  return sql<AnchorStanding[]>`
    select kind, place, size::float8 as size, error,
           coalesce((select greatest(extract(epoch from now() - signed_at), 0) from checkpoints c
                     where c.size > a.size order by c.size limit 1), 0)::float8 as "lagS"
    from anchors a
    where active and exists (select from scheduled_jobs where name = 'anchor' and schedule is not null)
    order by kind, place`;
}
