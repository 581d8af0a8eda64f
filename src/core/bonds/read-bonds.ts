/** What the syncs detected, as a partner reads it back. */
import type { EventData } from '../../contract/events.ts';
import { FIRST_ID } from '../../db/first-id.ts';
import type { Pool } from '../../db/pool.ts';

/** A cursor: after this record. */
export interface BondPlace {
  readonly detectedAt: Date;
  readonly id: string;
}

interface Types {
  readonly ended: EventData<'trabalhador.desligado'>;
  readonly new: EventData<'trabalhador.vinculo_novo'>;
}

export interface DetectedBond<K extends keyof Types> extends BondPlace {
  /** The event's data, keys in catalog order. */
  readonly data: Types[K];
}

export interface BondListQuery<K extends keyof Types> {
  readonly partnerId: string;
  readonly kind: K;
  /** Detected at or after. */
  readonly from: Date | null;
  /** Detected before. */
  readonly until: Date | null;
  readonly after: BondPlace | null;
  readonly limit: number;
}

/** Detected records, first detected first: their commits are in that order (bond-detection.ts), so a reader misses none. */
export async function readBonds<K extends keyof Types>(
  pool: Pool,
  { partnerId, kind, from, until, after, limit }: BondListQuery<K>,
): Promise<{ readonly bonds: readonly DetectedBond<K>[]; readonly hasMore: boolean }> {
  const rows = await pool.run(
    (tx) => tx<DetectedBond<K>[]>`
      select id, detected_at as "detectedAt", emitted as data
      from bond_records
      where partner_id = ${partnerId} and kind = ${kind} and detected_at >= ${from ?? new Date(0)}
        and (${until}::timestamptz is null or detected_at < ${until})
        and (detected_at, id) > (${after?.detectedAt ?? new Date(0)}::timestamptz, ${after?.id ?? FIRST_ID}::uuid)
      order by detected_at, id
      limit ${limit + 1}`,
  );
  return { bonds: rows.slice(0, limit), hasMore: rows.length > limit };
}
