/** Partners and their accounts as the operator reads them. */
import type { Tx } from '../db/pool.ts';
import type { PartnerRow } from './partners.ts';
import { listWebhooks, type WebhookLine } from './webhooks.ts';

export type PartnerLine = PartnerRow & {
  /** How many of its webhooks are active. */
  readonly webhooks: number;
};

export async function listPartners(sql: Tx, onlyInactive: boolean): Promise<PartnerLine[]> {
  return sql<PartnerLine[]>`
    select id, name, active, signing, documents, issuance, created_at as "createdAt",
           (select count(*)::int from webhooks w where w.partner_id = p.id and w.active) as webhooks
    from partners p
    where not (${onlyInactive} and active)
    order by id`;
}

interface PartnerHistoryLine {
  readonly changedAt: Date;
  readonly change: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly name: string;
  readonly active: boolean;
  readonly signing: string;
  readonly documents: string;
  readonly issuance: string;
}

export type ShownPartner = PartnerRow & {
  readonly webhooks: readonly WebhookLine[];
  /** The newest line first. */
  readonly history: readonly PartnerHistoryLine[];
};

/** Null when there is none of that id. */
export async function readPartner(sql: Tx, id: string): Promise<ShownPartner | null> {
  const [partner] = await sql<PartnerRow[]>`
    select id, name, active, signing, documents, issuance, created_at as "createdAt" from partners where id = ${id}`;
  if (partner === undefined) return null;
  const history = await sql<PartnerHistoryLine[]>`
    select changed_at as "changedAt", change, actor, reason, name, active, signing, documents, issuance
    from partner_history where partner_id = ${id} order by position desc`;
  return { ...partner, webhooks: await listWebhooks(sql, { partnerId: id }), history };
}
