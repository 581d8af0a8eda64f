/** Partners, which only the operator makes. */
import type { DocumentMode, IssuanceMode, SigningMode } from '../contract/statuses.ts';
import type { Tx } from '../db/pool.ts';

export interface NewPartner {
  readonly name: string;
  readonly signing: SigningMode;
  readonly documents: DocumentMode;
  readonly issuance: IssuanceMode;
}

export interface Partner extends NewPartner {
  readonly id: string;
}

export async function createPartner(sql: Tx, { name, signing, documents, issuance }: NewPartner): Promise<Partner> {
  const [row] = await sql<[Partner]>`
    insert into partners (name, signing, documents, issuance)
    values (${name}, ${signing}, ${documents}, ${issuance})
    returning id, name, signing, documents, issuance`;
  return row;
}

const SANDBOX_PARTNER: NewPartner = {
  name: 'Parceiro do sandbox',
  signing: 'internal',
  documents: 'agrupada',
  issuance: 'sincrona',
};

/** The oldest active partner, made first when there is none: the one that a newcomer's examples use. */
export async function ensureSandboxPartner(sql: Tx): Promise<Partner> {
  const [first] = await sql<Partner[]>`
    select id, name, signing, documents, issuance from partners where active order by id limit 1`;
  return first ?? createPartner(sql, SANDBOX_PARTNER);
}
