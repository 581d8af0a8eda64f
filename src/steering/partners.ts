/** Partners and their accounts, which only the operator makes and changes. */
import type { DocumentMode, IssuanceMode, SigningMode } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';

interface Partner {
  readonly id: string;
  readonly name: string;
  readonly signing: SigningMode;
  readonly documents: DocumentMode;
  readonly issuance: IssuanceMode;
}
export type NewPartner = Omit<Partner, 'id'>;

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
    select id, name, signing, documents, issuance, active, created_at as "createdAt" from made`;
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
    returning id, name, signing, documents, issuance, active, created_at as "createdAt"`;
  return row;
}

/** Locks a partner's row until the transaction ends; null for an unknown id. */
export async function lockPartner(tx: Tx, id: string): Promise<PartnerRow | null> {
  const [row] = await tx<PartnerRow[]>`
    select id, name, signing, documents, issuance, active, created_at as "createdAt"
    from partners where id = ${id} and id <> operator_partner() for no key update`;
  return row ?? null;
}
