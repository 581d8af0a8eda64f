/** Partners and their accounts as the operator reads them. */
import type { PARTNER_CHANGES } from '../contract/statuses.ts';
import { FIRST_ID } from '../db/first-id.ts';
import type { Tx } from '../db/pool.ts';
import { HISTORY_PAGE, LIST_PAGE, NO_LINE, pageOf, type Page, type PageOf } from './bounds.ts';
import type { PartnerRow } from './partners.ts';

/** A list counts a partner's active webhooks up to this many. */
export const WEBHOOKS_COUNTED = 1_000;
/** Partners that one page of a filtered list reads, at most. */
const LOOKED_AT = 2_000;

export type PartnerLine = PartnerRow & {
  /** Active webhooks; {@link WEBHOOKS_COUNTED} + 1 stands for more. */
  readonly webhooks: number;
};

/** Oldest first. With few inactive partners, a page that is not the last may be short. */
export async function listPartners(
  sql: Tx,
  onlyInactive: boolean,
  { after = null, limit = LIST_PAGE }: Page = {},
): Promise<PageOf<PartnerLine>> {
  const most = onlyInactive ? LOOKED_AT : limit + 1;
  const looked = await sql<PartnerRow[]>`
    select id, name, active, signing, documents, issuance, created_at as "createdAt"
    from partners where id > ${after ?? FIRST_ID} order by id limit ${most}`;
  const page = pageOf(
    looked.filter(({ active }) => !(onlyInactive && active)),
    limit,
    ({ id }) => id,
  );
  const counts = await sql<{ id: string; webhooks: number }[]>`
    select asked.id, (
      select count(*)::int from (
        select from webhooks w where w.partner_id = asked.id and w.active limit ${WEBHOOKS_COUNTED + 1}
      ) counted
    ) as webhooks
    from unnest(${page.rows.map(({ id }) => id)}::uuid[]) as asked (id)`;
  const webhooksOf = new Map(counts.map(({ id, webhooks }) => [id, webhooks]));
  const rows = page.rows.map((row) => Object.assign(row, { webhooks: webhooksOf.get(row.id) ?? 0 }));
  return { rows, next: page.next ?? (looked.length === most ? (looked.at(-1)?.id ?? null) : null) };
}

interface PartnerHistoryLine {
  readonly changedAt: Date;
  readonly change: (typeof PARTNER_CHANGES)[number];
  readonly actor: string;
  readonly reason: string | null;
  readonly name: string;
  readonly active: boolean;
  readonly signing: string;
  readonly documents: string;
  readonly issuance: string;
}

export type ShownPartner = PartnerRow & {
  /** Newest first. */
  readonly history: readonly PartnerHistoryLine[];
  /** Cursor of the next older lines; null when there are none. */
  readonly olderThan: string | null;
};

/** With the lines of history before `before` (null: the newest). Null for an unknown id. */
export async function readPartner(sql: Tx, id: string, before: string | null = null): Promise<ShownPartner | null> {
  const [partner] = await sql<PartnerRow[]>`
    select id, name, active, signing, documents, issuance, created_at as "createdAt" from partners where id = ${id}`;
  if (partner === undefined) return null;
  const lines = await sql<(PartnerHistoryLine & { position: string })[]>`
    select position::text, changed_at as "changedAt", change, actor, reason, name, active, signing, documents, issuance
    from partner_history
    where (partner_id, position) < (${id}, ${before ?? NO_LINE}::bigint) and partner_id >= ${id}
    order by partner_id desc, partner_history.position desc
    limit ${HISTORY_PAGE + 1}`;
  const { rows: history, next: olderThan } = pageOf(lines, HISTORY_PAGE, ({ position }) => position);
  return { ...partner, history, olderThan };
}

export async function isPartner(sql: Tx, id: string): Promise<boolean> {
  return (await sql`select from partners where id = ${id}`).length === 1;
}
