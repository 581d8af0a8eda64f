import type { Tx } from '../../src/db/pool.ts';
import { type Claimed, claimedOf, type Row } from '../../src/delivery/queue/claim.ts';
import type { Shares } from '../../src/delivery/queue/slots.ts';
import { DUE_FROM_EVER } from '../../src/delivery/queue/upkeep/due-mark.ts';

/** `claim_due` alone, without what arrived: as `takeTurn` (src/delivery/queue/claim.ts) has it. */
export async function claimDue(
  tx: Tx,
  claim: string,
  limit: number,
  now: Date | null = null,
  dueFrom = DUE_FROM_EVER,
  shares: Shares | null = null,
): Promise<Claimed> {
  const rows = (await tx`
    select * from claim_due(${claim}, ${limit}, ${now}::timestamptz, ${dueFrom}::text::timestamptz,
                            ${shares?.reserve ?? null}::int,
                            ${[...(shares?.holders.keys() ?? [])]}::uuid[],
                            ${[...(shares?.holders.values() ?? [])]}::int[],
                            ${(shares?.sated ?? []) as string[]}::uuid[])`
    .values()
    .execute()) as unknown as readonly Row[];
  return claimedOf(rows);
}
