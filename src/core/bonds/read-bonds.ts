/** What the syncs detected, as a partner reads it back (contract, "Endpoints referenced by the event rules"). */
import { and, asc, eq, gte, isNotNull, sql } from 'drizzle-orm';
import type { EventData } from '../../contract/events.ts';
import type { Pool } from '../../db/pool.ts';
import { prepared } from '../../db/prepared.ts';
import { bondRecords } from '../../db/tables/jobs.ts';

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

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

/**
 * Detected records, first detected first. Detections of a partner commit in the order of `detectedAt`
 * (bond-detection.ts), so a reader that goes on after its last record misses none.
 */
export async function readBonds<K extends keyof Types>(
  pool: Pool,
  { partnerId, kind, from, until, after, limit }: BondListQuery<K>,
): Promise<{ readonly bonds: readonly DetectedBond<K>[]; readonly hasMore: boolean }> {
  const asked = {
    partnerId,
    kind,
    from: from ?? new Date(0),
    until,
    afterAt: after?.detectedAt ?? new Date(0),
    afterId: after?.id ?? FIRST_ID,
    limit: limit + 1,
  };
  const rows = (await pool.run((tx) => select(tx, asked))) as DetectedBond<K>[];
  return { bonds: rows.slice(0, limit), hasMore: rows.length > limit };
}

interface Asked {
  readonly partnerId: string;
  readonly kind: 'ended' | 'new';
  readonly from: Date;
  readonly until: Date | null;
  readonly afterAt: Date;
  readonly afterId: string;
  readonly limit: number;
}

const { id, detectedAt } = bondRecords;
const select = prepared<Asked>()((database, given) =>
  database
    .select({ id, detectedAt, data: bondRecords.emitted })
    .from(bondRecords)
    .where(
      and(
        eq(bondRecords.partnerId, given.partnerId),
        eq(bondRecords.kind, given.kind),
        isNotNull(detectedAt),
        gte(detectedAt, given.from),
        sql`(${given.until}::timestamptz is null or ${detectedAt} < ${given.until})`,
        sql`(${detectedAt}, ${id}) > (${given.afterAt}::timestamptz, ${given.afterId}::uuid)`,
      ),
    )
    .orderBy(asc(detectedAt), asc(id))
    .limit(given.limit),
);
