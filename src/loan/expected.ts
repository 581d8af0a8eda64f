/**
 * Whether `decide` could have written an event at its position in the stream. A core in another language may append any event
 * of the catalog. One that does not fit is folded all the same, and reported to auditors.
 */
import { type Fact, isOfCatalog } from '../contract/events.ts';
import { isAbout } from './evolve.ts';
import { FIRST_TYPES, hasRule, OTHER_TYPES, ruleOf } from './rules.ts';
import type { LoanState } from './state.ts';

/** The event's stream, its loan before the event, and the loan's partner; the last two are null before the contract. */
export interface StreamSoFar {
  readonly stream: string;
  readonly state: LoanState | null;
  readonly ownerId: string | null;
}

type Judged = Fact & { readonly version: number; readonly partnerId: string };

/** Null for an event that fits at its position, else the reason in Portuguese. */
export function unexpected(event: Judged, soFar: StreamSoFar): string | null {
  try {
    return misplaced(event, soFar);
  } catch (error) {
    if (isOfCatalog(event)) throw error;
    return 'o conteúdo não é o que o catálogo define';
  }
}

function misplaced(event: Judged, soFar: StreamSoFar): string | null {
  const { state } = soFar;
  if (!isAbout(soFar.stream, event)) return 'emprestimo_id não é o do fluxo em que o evento está';
  if (isOf(OTHER_TYPES, event)) return event.version === 1 ? null : 'o evento não é o primeiro do seu fluxo';
  if (isOf(FIRST_TYPES, event)) {
    if (state !== null) return 'o empréstimo já tinha sido contratado';
    return event.version === 1 ? null : 'a contratação não é o primeiro evento do fluxo';
  }
  if (state === null) return 'o fluxo não tem, antes, a contratação do empréstimo';
  if (event.partnerId !== soFar.ownerId) return 'o empréstimo é de outro parceiro';
  if ('numero_emprestimo' in event.data && event.data.numero_emprestimo !== state.number)
    return `numero_emprestimo não é ${state.number}, o do empréstimo`;
  return hasRule(event) && ruleOf(event).fits(state, event.data) ? null : describe(state);
}

function isOf(types: readonly Fact['type'][], { type }: Fact): boolean {
  return types.includes(type);
}

function describe(state: LoanState): string {
  const registration = state.registration === null ? 'sem averbação' : `averbação ${state.registration.status}`;
  const obligation = state.obligation === null ? 'sem entrega_docs_registry' : state.obligation.situation;
  return `não cabe no estado: status ${state.status}, ${registration}, ${obligation}`;
}
