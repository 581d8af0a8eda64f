/** What the tests of the loan core start from: partners, loans and steps over a real database. */
import { randomUUID } from 'node:crypto';

import type { CreateLoan, LoanResource } from '../../src/contract/resources/loan-resource.ts';
import type { DocumentMode, IssuanceMode, SigningMode } from '../../src/contract/statuses.ts';
import { createLoan } from '../../src/core/loans/create-loan.ts';
import { decideAndAppend, type Handled } from '../../src/core/loans/handle-loan.ts';
import { definitiveNumber } from '../../src/core/loans/loan-number.ts';
import type { Pool, Sql } from '../../src/db/pool.ts';
import type { LoanState } from '../../src/loan/state.ts';
import type { Provenance } from '../../src/log/append.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

export const REQUEST: CreateLoan = {
  cpf_trabalhador: '52998224725',
  nome_trabalhador: 'Ana Souza',
  matricula: 'M-17',
  cnpj_empregador: '11222333000181',
  valor_liberado: 1234.5,
  numero_parcelas: 12,
  valor_parcela: 120.33,
};

export interface Account {
  readonly signing?: SigningMode;
  readonly documents?: DocumentMode;
  readonly issuance?: IssuanceMode;
}

export async function createPartner(
  sql: Sql,
  { signing = 'internal', documents = 'agrupada', issuance = 'sincrona' }: Account = {},
): Promise<Provenance> {
  const [row] = await sql<[{ id: string }]>`
    insert into partners (name, signing, documents, issuance)
    values ('test', ${signing}, ${documents}, ${issuance})
    returning id`;
  return { partnerId: row.id, actor: 'test', requestId: null };
}

/** A database for the whole file with one partner. */
export async function useOnePartner(): Promise<{ database: TestDatabase; partner: Provenance }> {
  const database = await createTestDatabase();
  return { database, partner: await createPartner(database.sql) };
}

export async function issueLoan(pool: Pool, provenance: Provenance, key: string = randomUUID()): Promise<LoanResource> {
  const made = await createLoan(pool, provenance, key, REQUEST);
  if ('refused' in made) throw new Error(`no loan was made: ${JSON.stringify(made)}`);
  return made.ok.answer.body;
}

/** A loan in `em_assinatura` that was made at `createdAt`, whatever the clock says. */
export async function issueLoanAt(
  pool: Pool,
  provenance: Provenance,
  createdAt: Date,
  terms: CreateLoan = REQUEST,
): Promise<LoanState> {
  const recorded = await pool.transaction(async (tx) => {
    const [{ id }] = await tx<[{ id: string }]>`select uuidv7() as id`;
    const contract = {
      emprestimo_id: id,
      numero: await definitiveNumber(tx, provenance.partnerId, createdAt),
      ...terms,
      tipo_assinatura: 'internal',
      entrega_documentos: 'agrupada',
      consulta_margem_id: null,
    } as const;
    return decideAndAppend(tx, provenance, id, { type: 'issue', issuance: 'sincrona', contract }, null, createdAt);
  });
  if (!('ok' in recorded)) throw new Error(`no loan was made: ${JSON.stringify(recorded)}`);
  return recorded.ok;
}

/** The state after a command that must be accepted. */
export async function accepted(handling: Promise<Handled>): Promise<LoanState> {
  const handled = await handling;
  if (!('ok' in handled)) throw new Error(`refused: ${JSON.stringify(handled)}`);
  return handled.ok;
}

export async function eventTypes(sql: Sql, stream: string): Promise<string[]> {
  const rows = await sql<{ type: string }[]>`select type from events where stream = ${stream} order by version`;
  return rows.map(({ type }) => type);
}
