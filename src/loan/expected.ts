/**
 * Whether `decide` could have written an event at its position. Another language's core may append any event of the catalog: one that does
 * not fit is folded all the same and reported to auditors. History that does not fit is refused.
 */
import { type Fact, isOfCatalog } from '../contract/events.ts';
import type { Bilingual } from '../contract/language.ts';
import { evolve, fold, isAbout, type LoanEvent } from './evolve.ts';
import { FIRST_TYPES, hasRule, OTHER_TYPES, ruleOf } from './rules.ts';
import type { LoanState } from './state.ts';

/** The event's stream, the loan before the event, and its partner; the last two are null before the contract. */
export interface StreamSoFar {
  readonly stream: string;
  readonly state: LoanState | null;
  readonly ownerId: string | null;
}

/** The key that does not fit, and the rule. No value of the payload is repeated. */
interface Mismatch extends Bilingual {
  readonly key: string;
}

export type JudgedEvent = LoanEvent & { readonly partnerId: string };

/** A stream's events from its first: each that `isAsked`, with its misfit or null. */
export function* judgeStream<E extends JudgedEvent>(
  stream: string,
  events: readonly E[],
  isAsked: (event: E) => boolean,
): Generator<readonly [E, Mismatch | null]> {
  let soFar: StreamSoFar = { stream, state: null, ownerId: null };
  for (const [index, event] of events.entries()) {
    if (isAsked(event)) yield [event, unexpected(event, soFar)];
    soFar = after(soFar, event, events, index);
  }
}

/** The stream after its event `index`; a loan begins with its contract, whatever precedes it. */
function after(soFar: StreamSoFar, event: JudgedEvent, events: readonly JudgedEvent[], index: number): StreamSoFar {
  if (soFar.state !== null) return { ...soFar, state: evolve(soFar.state, event) };
  if (!isOf(FIRST_TYPES, event)) return soFar;
  const state = fold(events.slice(0, index + 1));
  return state?.id === soFar.stream ? { ...soFar, state, ownerId: event.partnerId } : soFar;
}

type Placed = Fact & { readonly version: number; readonly partnerId: string };

export function unexpected(event: Placed, soFar: StreamSoFar): Mismatch | null {
  try {
    return misplaced(event, soFar);
  } catch (error) {
    if (isOfCatalog(event)) throw error;
    return mismatch('data', 'o conteúdo não é o que o catálogo define', 'is not as the catalog has it');
  }
}

function misplaced(event: Placed, soFar: StreamSoFar): Mismatch | null {
  const { state } = soFar;
  if (!isAbout(soFar.stream, event))
    return mismatch('data.emprestimo_id', 'emprestimo_id não é o do fluxo em que o evento está', 'is not the stream');
  if (isOf(OTHER_TYPES, event))
    return event.version === 1
      ? null
      : mismatch(
          'version',
          'o evento não é o primeiro do seu fluxo',
          'must be 1: such an event is the only one of its stream',
        );
  if (isOf(FIRST_TYPES, event)) {
    if (state !== null)
      return mismatch('type', 'o empréstimo já tinha sido contratado', 'the loan has a contract already');
    // Versions below 1 are history that came after an append (append_history.sql).
    return event.version <= 1
      ? null
      : mismatch(
          'version',
          'a contratação não é o primeiro evento do fluxo',
          'must be 1: a loan begins with its contract',
        );
  }
  if (state === null)
    return mismatch(
      'type',
      'o fluxo não tem, antes, a contratação do empréstimo',
      'the stream must begin with the contract of the loan',
    );
  if (event.partnerId !== soFar.ownerId)
    return mismatch('partner_id', 'o empréstimo é de outro parceiro', "the loan is another partner's");
  if ('numero_emprestimo' in event.data && event.data.numero_emprestimo !== state.number)
    return mismatch(
      'data.numero_emprestimo',
      `numero_emprestimo não é ${state.number}, o do empréstimo`,
      `must be ${state.number}, the number of the loan`,
    );
  return hasRule(event) && ruleOf(event).fits(state, event.data) ? null : mismatchOf(event, state);
}

function mismatch(key: string, pt: string, en: string): Mismatch {
  return { key, pt, en };
}

function isOf(types: readonly Fact['type'][], { type }: Fact): boolean {
  return types.includes(type);
}

function mismatchOf({ type }: Fact, { status, registration, obligation }: LoanState): Mismatch {
  return mismatch(
    'type',
    `não cabe no estado: status ${status}, ${registration === null ? 'sem averbação' : `averbação ${registration.status}`}, ` +
      (obligation === null ? 'sem entrega_docs_registry' : obligation.situation),
    `${type} does not fit a loan that is ${status}, ` +
      (registration === null ? 'without a registration' : `with its registration ${registration.status}`) +
      (obligation === null ? '' : ` and its documents ${obligation.situation}`),
  );
}
