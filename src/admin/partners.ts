/** Partners and their accounts, which only the operator makes and changes, and reads. */
import type { DocumentMode, IssuanceMode, PARTNER_CHANGES, SigningMode } from '../contract/statuses.ts';
import { FIRST_ID } from '../db/first-id.ts';
import type { Tx } from '../db/pool.ts';
import { HISTORY_PAGE, LIST_PAGE, NO_LINE, pageOf, type Page, type PageOf } from './bounds.ts';

interface Partner {
  readonly id: string;
  readonly name: string;
  readonly signing: SigningMode;
  readonly documents: DocumentMode;
  readonly issuance: IssuanceMode;
}
export type NewPartner = Omit<Partner, 'id'>;

const columns = (sql: Tx) => sql`id, name, active, signing, documents, issuance, created_at as "createdAt"`;

/** With the first line of its history. `id`: the lender core's; null: a new one. */
export async function createPartner(
  tx: Tx,
  account: NewPartner,
  actor: string,
  id: string | null = null,
): Promise<PartnerRow> {
  const { name, signing, documents, issuance } = account;
  const [row] = await tx<[PartnerRow]>`
    with made as (
      insert into partners (id, name, signing, documents, issuance)
      values (coalesce(${id}::uuid, uuidv7()), ${name}, ${signing}, ${documents}, ${issuance})
      returning *
    ),
    line as (
      insert into partner_history (partner_id, name, active, signing, documents, issuance, change, actor)
      select id, name, active, signing, documents, issuance, 'criacao', ${actor} from made
    )
    select ${columns(tx)} from made`;
  return row;
}

const SANDBOX_PARTNER: NewPartner = {
  name: 'Parceiro do sandbox',
  signing: 'internal',
  documents: 'agrupada',
  issuance: 'sincrona',
};

/** The oldest active partner, created when there is none: the sandbox's examples use it. */
export async function ensureSandboxPartner(tx: Tx): Promise<Partner> {
  const [first] = await tx<Partner[]>`
    select id, name, signing, documents, issuance from partners where active and id <> operator_partner() order by id limit 1`;
  return first ?? createPartner(tx, SANDBOX_PARTNER, 'start');
}

export type PartnerRow = Partner & { readonly active: boolean; readonly createdAt: Date };

/** Omitted fields stay. */
export type AccountChange = {
  readonly [Field in keyof NewPartner]?: NewPartner[Field] | undefined;
} & { readonly active?: boolean };

/**
 * Changes an account in the caller's transaction. A trigger writes the history with this author; a deactivation suspends pending deliveries
 * in the same transaction (suspend_partner.sql).
 */
export async function changePartner(
  tx: Tx,
  id: string,
  change: AccountChange,
  { actor, reason }: { readonly actor: string; readonly reason: string | null },
): Promise<PartnerRow> {
  await tx`select set_config('carteiro.actor', ${actor}, true), set_config('carteiro.reason', ${reason ?? ''}, true)`;
  const [row] = await tx<[PartnerRow]>`
    update partners
    set name = coalesce(${change.name ?? null}, name), signing = coalesce(${change.signing ?? null}, signing),
        documents = coalesce(${change.documents ?? null}, documents),
        issuance = coalesce(${change.issuance ?? null}, issuance), active = coalesce(${change.active ?? null}, active)
    where id = ${id}
    returning ${columns(tx)}`;
  return row;
}

/** Locks a partner's row until the transaction ends; null for an unknown id. */
export async function lockPartner(tx: Tx, id: string): Promise<PartnerRow | null> {
  const [row] = await tx<PartnerRow[]>`
    select ${columns(tx)}
    from partners where id = ${id} and id <> operator_partner() for no key update`;
  return row ?? null;
}

/** A list counts a partner's active webhooks up to this many. */
export const WEBHOOKS_COUNTED = 1_000;
/** Partners that one page of a filtered list reads, at most. */
const MAX_SCANNED = 2_000;

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
  const most = onlyInactive ? MAX_SCANNED : limit + 1;
  const looked = await sql<PartnerRow[]>`
    select ${columns(sql)}
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

interface PartnerHistoryLine extends NewPartner {
  readonly changedAt: Date;
  readonly change: (typeof PARTNER_CHANGES)[number];
  readonly actor: string;
  readonly reason: string | null;
  readonly active: boolean;
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
    select ${columns(sql)} from partners where id = ${id}`;
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
