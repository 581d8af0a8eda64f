import type { ErrorDetail } from '../contract/errors.ts';
import type { Fact } from '../contract/events.ts';
import type { Refused } from '../contract/refusals.ts';
import { DOCUMENT_TYPES, type DocumentType } from '../contract/statuses.ts';
import { type CommandOf, type Decision, type DocumentPiece, refuse } from './command.ts';
import { leavesSigningPending } from './decide-registration.ts';
import { isDeferred, type LoanState, missingDocuments } from './state.ts';

export function concludesSigning(state: LoanState): Fact {
  return { type: 'assinatura.concluida', data: { emprestimo_id: state.id, tipo_assinatura: state.signing } };
}

/** Grouped: all five pieces conclude the signing. Deferred: the CCB alone, ahead of the others. */
export function deliverPackage({ documents }: CommandOf<'deliverPackage'>, state: LoanState): Decision {
  const what = 'Não é possível receber documentos';
  if (state.signing === 'internal') return refuse(state, what, 'com tipo_assinatura internal');
  if (state.status !== 'em_assinatura') return refuse(state, what);
  const deferred = isDeferred(state);
  const mismatch = compare(documents, deferred ? ['ccb_assinada'] : DOCUMENT_TYPES);
  if (mismatch !== null) return mismatch;
  const outcome = deferred ? leavesSigningPending(state, true) : concludesSigning(state);
  return { ok: [...received(documents, state), outcome] };
}

export function deliverMissingDocuments(
  { documents }: CommandOf<'deliverMissingDocuments'>,
  state: LoanState,
): Decision {
  if (state.obligation?.situation !== 'aguardando') return refuseWithoutObligation(state);
  const mismatch = compare(documents, missingDocuments(state));
  if (mismatch !== null) return mismatch;
  return { ok: [...received(documents, state), ...packageCompleted(state)] };
}

/** The last piece closes the obligation, as the batch does. */
export function deliverDocument({ document }: CommandOf<'deliverDocument'>, state: LoanState): Decision {
  if (state.obligation?.situation !== 'aguardando') return refuseWithoutObligation(state);
  const missing = missingDocuments(state);
  if (!missing.includes(document.type))
    return refuse(state, 'Não é possível receber o documento', `com a peça ${document.type} já recebida`);
  return { ok: [...received([document], state), ...(missing.length === 1 ? packageCompleted(state) : [])] };
}

function refuseWithoutObligation(state: LoanState): Refused<'loanState'> {
  const situation = state.obligation === null ? 'sem entrega_docs_registry' : 'com entrega_docs_registry recebido';
  return refuse(state, 'Não há documentos a entregar', situation);
}

function received(documents: readonly DocumentPiece[], state: LoanState): Fact[] {
  return documents.map(({ type, sha256 }) => ({
    type: 'documento.recebido',
    data: { emprestimo_id: state.id, tipo: type, sha256 },
  }));
}

function packageCompleted(state: LoanState): Fact[] {
  const data = { emprestimo_id: state.id, numero_emprestimo: state.number };
  return [{ type: 'docs_registry.recebido', data }, concludesSigning(state)];
}

/** Null when `documents` are exactly the `expected` pieces, each once; else a detail per difference. */
function compare(documents: readonly DocumentPiece[], expected: readonly DocumentType[]): Refused<'mismatch'> | null {
  const given = documents.map(({ type }) => type);
  const details: ErrorDetail[] = [];
  for (const [index, type] of given.entries()) {
    const campo = `documentos[${index}].tipo`;
    if (!expected.includes(type)) details.push({ campo, mensagem: `a peça ${type} não é esperada agora` });
    else if (given.indexOf(type) < index) details.push({ campo, mensagem: `a peça ${type} está repetida` });
  }
  const missing = expected.filter((type) => !given.includes(type));
  for (const type of missing) details.push({ campo: 'documentos', mensagem: `falta a peça ${type}` });
  if (details.length === 0) return null;
  const names = missing.length === 0 ? 'há peças que não cabem' : `peças que faltam: ${missing.join(', ')}`;
  return { refused: { kind: 'mismatch', what: `Documentos inválidos: ${names}`, details } };
}
