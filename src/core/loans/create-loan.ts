/** Issues a loan as the partner's account says. */
import type { CreateLoan, LoanResource } from '../../contract/resources/loan-resource.ts';
import { type Refused, type Result, taken } from '../../contract/refusals.ts';
import type { DocumentMode, IssuanceMode, SigningMode } from '../../contract/statuses.ts';
import type { Pool, Tx } from '../../db/pool.ts';
import { view } from '../../loan/view.ts';
import { type Provenance, UnknownPartner } from '../../log/append.ts';
import { isStream } from '../../log/read.ts';
import { decideAndAppend } from './handle-loan.ts';
import { type KeyRefusal, type Once, once } from '../idempotency.ts';
import { definitiveNumber, isNumberTaken, provisionalNumber } from './loan-number.ts';

const OPERATION = 'POST /v1/emprestimos';

interface NewLoan {
  readonly status: 201 | 202;
  readonly body: LoanResource;
}

/** Creates a loan once for each `key`: 201 issued, 202 not yet; replays get the first answer. Throws for an unknown partner. */
export async function createLoan(
  pool: Pool,
  provenance: Provenance,
  key: string,
  request: CreateLoan,
): Promise<Result<Once<NewLoan>, KeyRefusal | 'unknownMarginQuery'>> {
  const keyed = { partnerId: provenance.partnerId, operation: OPERATION, key, body: request };
  return once<NewLoan, 'unknownMarginQuery'>(pool, keyed, (tx) => issueLoan(tx, provenance, request));
}

/** The id and the number that the lender's core has for a loan; what is not given is made. */
interface Own {
  readonly id?: string | undefined;
  readonly numero?: string | undefined;
}

/** Why the core's own id or number can't be that of a new loan of this partner; null where they can. */
export async function refuseTaken(tx: Tx, partnerId: string, { id, numero }: Own): Promise<Refused<'taken'> | null> {
  if (id !== undefined && (await isStream(tx, id))) return taken('id', id);
  return numero !== undefined && (await isNumberTaken(tx, partnerId, numero)) ? taken('numero', numero) : null;
}

/** Issues a loan in the caller's transaction. Throws for a partner that does not exist. */
export async function issueLoan(
  tx: Tx,
  provenance: Provenance,
  request: CreateLoan,
  own: Own = {},
): Promise<Result<NewLoan, 'unknownMarginQuery'>> {
  const { partnerId } = provenance;
  const marginQueryId = await findMarginQuery(tx, partnerId, request);
  if (marginQueryId === undefined) return { refused: { kind: 'unknownMarginQuery' } };
  const { newId, now, signing, documents, issuance } = await readAccount(tx, partnerId);
  const loanId = own.id ?? newId;
  const numero =
    own.numero ??
    (await (issuance === 'sincrona' ? definitiveNumber(tx, partnerId, now) : provisionalNumber(tx, partnerId)));
  const contract = {
    ...request,
    emprestimo_id: loanId,
    numero,
    tipo_assinatura: signing,
    entrega_documentos: documents,
    consulta_margem_id: marginQueryId,
  };
  const command = { type: 'issue', issuance, contract } as const;
  const issued = await decideAndAppend(tx, provenance, loanId, command, null, now);
  if ('refused' in issued) throw new Error(`a new loan was refused: ${issued.refused.kind}`);
  return { ok: { status: issuance === 'sincrona' ? 201 : 202, body: view(issued.ok) } };
}

/** Null when the request names no margin query; undefined when it names none of this partner, worker and employer. */
async function findMarginQuery(tx: Tx, partnerId: string, request: CreateLoan): Promise<string | null | undefined> {
  if (request.consulta_margem_id === undefined) return null;
  const { consulta_margem_id: id, cpf_trabalhador: workerCpf, cnpj_empregador: employerCnpj } = request;
  const [query] = await tx<{ id: string }[]>`
    select id from margin_queries
    where id = ${id} and partner_id = ${partnerId} and worker_cpf = ${workerCpf} and employer_cnpj = ${employerCnpj}`;
  return query?.id;
}

interface Account {
  readonly signing: SigningMode;
  readonly documents: DocumentMode;
  readonly issuance: IssuanceMode;
  readonly newId: string;
  readonly now: Date;
}

async function readAccount(tx: Tx, partnerId: string): Promise<Account> {
  const [account] = await tx<Account[]>`
    select uuidv7() as "newId", clock_timestamp() as now, signing, documents, issuance from partners where id = ${partnerId}`;
  if (account === undefined) throw new UnknownPartner(`there is no partner ${partnerId}`);
  return account;
}
