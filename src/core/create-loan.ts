/** Issues a loan as the partner's account says (contract, "Transitions shown"; decisions, "Endpoints"). */
import type { CreateLoan, LoanResource } from '../contract/loan-resource.ts';
import type { DocumentMode, IssuanceMode, SigningMode } from '../contract/statuses.ts';
import type { Pool, Tx } from '../db/pool.ts';
import type { Rejection } from '../loan/command.ts';
import { view } from '../loan/view.ts';
import type { Provenance } from '../log/append.ts';
import { record } from './handle-loan.ts';
import { type Once, once } from './idempotency.ts';
import { definitiveNumber, provisionalNumber } from './loan-number.ts';

const OPERATION = 'POST /v1/emprestimos';

interface Account {
  readonly loanId: string;
  readonly now: Date;
  readonly signing: SigningMode;
  readonly documents: DocumentMode;
  readonly issuance: IssuanceMode;
}

/**
 * Creates a loan once for each `key`: 201 when the issuance was synchronous, 202 when it goes on. The answer to a
 * replay is the first one, however far the loan has come since. Throws for a partner that does not exist.
 */
export async function createLoan(
  pool: Pool,
  provenance: Provenance,
  key: string,
  request: CreateLoan,
): Promise<Once<LoanResource, Rejection>> {
  const keyed = { partnerId: provenance.partnerId, operation: OPERATION, key, body: request };
  return once<LoanResource, Rejection>(pool, keyed, async (tx) => {
    const marginQueryId = await findMarginQuery(tx, provenance.partnerId, request);
    if (marginQueryId === undefined) return { refused: UNKNOWN_MARGIN_QUERY };
    const { loanId, now, signing, documents, issuance } = await readAccount(tx, provenance.partnerId);
    const numero = issuance === 'sincrona' ? await definitiveNumber(tx, now) : await provisionalNumber(tx);
    const contract = {
      emprestimo_id: loanId,
      numero,
      cpf_trabalhador: request.cpf_trabalhador,
      nome_trabalhador: request.nome_trabalhador,
      matricula: request.matricula,
      cnpj_empregador: request.cnpj_empregador,
      tipo_assinatura: signing,
      entrega_documentos: documents,
      valor_liberado: request.valor_liberado,
      numero_parcelas: request.numero_parcelas,
      valor_parcela: request.valor_parcela,
      consulta_margem_id: marginQueryId,
    };
    const recorded = await record(tx, provenance, loanId, { type: 'issue', issuance, contract }, null, now);
    if (!('ok' in recorded)) return { refused: recorded };
    return {
      status: issuance === 'sincrona' ? 201 : 202,
      location: `/v1/emprestimos/${loanId}`,
      body: view(recorded.state),
    };
  });
}

const UNKNOWN_MARGIN_QUERY: Rejection = {
  invalid: 'a requisição tem dados inválidos',
  details: [
    { campo: 'consulta_margem_id', mensagem: 'não é uma consulta de margem deste trabalhador com este empregador' },
  ],
};

/** Null when the request names no margin query; undefined when it names none of this partner, worker and employer. */
async function findMarginQuery(tx: Tx, partnerId: string, request: CreateLoan): Promise<string | null | undefined> {
  if (request.consulta_margem_id === undefined) return null;
  const [query] = await tx<{ id: string }[]>`
    select id
    from margin_queries
    where id = ${request.consulta_margem_id} and partner_id = ${partnerId}
      and worker_cpf = ${request.cpf_trabalhador} and employer_cnpj = ${request.cnpj_empregador}`;
  return query?.id;
}

async function readAccount(tx: Tx, partnerId: string): Promise<Account> {
  const [account] = await tx<Account[]>`
    select uuidv7() as "loanId", clock_timestamp() as now, signing, documents, issuance
    from partners
    where id = ${partnerId}`;
  if (account === undefined) throw new Error(`there is no partner ${partnerId}`);
  return account;
}
