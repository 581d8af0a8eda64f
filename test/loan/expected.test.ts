/** What `decide` writes is expected where it lies, and nothing else is: held against every stage and every event. */
import { expect, test } from 'vitest';
import { EVENT_TYPES, EVENTS, type Fact } from '../../src/contract/events.ts';
import { DOCUMENT_TYPES } from '../../src/contract/statuses.ts';
import type { Command } from '../../src/loan/command.ts';
import { decide } from '../../src/loan/decide.ts';
import { evolve, type LoanEvent } from '../../src/loan/evolve.ts';
import { unexpected } from '../../src/loan/expected.ts';
import { OTHER_TYPES } from '../../src/loan/rules.ts';
import type { LoanState } from '../../src/loan/state.ts';
import { after, COMMANDS, LOAN_ID, pieces, recorded } from './loan-spec.ts';
import { type Stage, STAGES } from './loan-stages.ts';

const OWNER = '0198c0de-0000-7000-8000-0000000000ff';
const PARTS: readonly Command[] = [
  ...Object.values(COMMANDS),
  { type: 'deliverPackage', documents: pieces(['ccb_assinada']) },
  { type: 'deliverMissingDocuments', documents: pieces(DOCUMENT_TYPES.filter((type) => type !== 'ccb_assinada')) },
  ...DOCUMENT_TYPES.map((type): Command => ({ type: 'deliverDocument', document: { type, sha256: 'ef'.repeat(32) } })),
];

/** Judges the facts one after the other, as they would be read from the log. */
function judge(facts: readonly Fact[], from: LoanState | null): ReturnType<typeof unexpected>[] {
  let state = from;
  return recorded(facts, from?.version).map((event: LoanEvent) => {
    const verdict = unexpected(
      { ...event, partnerId: OWNER },
      { stream: LOAN_ID, state, ownerId: state === null ? null : OWNER },
    );
    state = evolve(state, event);
    return verdict;
  });
}

/** Facts that some stage's commands write, one of each kind and content. */
const ALL_FACTS: readonly Fact[] = [
  ...new Map(
    Object.values(STAGES)
      .flatMap((commands) => PARTS.map((command) => decide(command, after(...commands))))
      .flatMap((decision) => ('ok' in decision ? decision.ok : []))
      .map((fact) => [JSON.stringify(fact), fact]),
  ).values(),
];

test.each(Object.keys(STAGES) as Stage[])('in the stage "%s" the facts of each command are expected', (stage) => {
  const state = after(...STAGES[stage]);
  const decisions = PARTS.map((command) => decide(command, state));
  const verdicts = decisions.flatMap((decision) => ('ok' in decision ? judge(decision.ok, state) : []));
  expect(verdicts.filter((verdict) => verdict !== null)).toEqual([]);
});

/** What a decision may write behind other facts of its own, and so no command writes first. */
const SECOND = new Set<Fact['type']>(['averbacao.solicitada', 'docs_registry.pendente', 'docs_registry.recebido']);

test.each(Object.keys(STAGES) as Stage[])(
  'in the stage "%s" a fact that no command begins with is unexpected',
  (stage) => {
    const state = after(...STAGES[stage]);
    const decisions = PARTS.map((command) => decide(command, state));
    const firsts = new Set(decisions.flatMap((decision) => ('ok' in decision ? [decision.ok[0]?.type] : [])));
    const strays = ALL_FACTS.filter(({ type }) => !firsts.has(type) && !SECOND.has(type));
    expect(strays.length).toBeGreaterThan(5);
    const overlooked = strays.filter((fact) => judge([fact], state)[0] === null).map(({ type }) => type);
    expect(overlooked).toEqual([]);
  },
);

test('an event names its own loan, its number and its partner', () => {
  const state = after(...STAGES.registered);
  const data = { emprestimo_id: LOAN_ID, numero_emprestimo: '2026-00000001', motivo: 'conta encerrada' };
  const failed = { type: 'desembolso.falhou', data, version: 5, partnerId: OWNER } as const;
  const soFar = { stream: LOAN_ID, state, ownerId: OWNER };
  expect(unexpected(failed, soFar)).toBeNull();
  expect(unexpected({ ...failed, partnerId: LOAN_ID }, soFar)).toMatchObject({ key: 'partner_id' });
  expect(unexpected({ ...failed, data: { ...data, emprestimo_id: OWNER } }, soFar)).toMatchObject({
    key: 'data.emprestimo_id',
  });
  expect(unexpected({ ...failed, data: { ...data, numero_emprestimo: 'N-1' } }, soFar)).toMatchObject({
    key: 'data.numero_emprestimo',
  });
});

test('a fact is of a loan’s stream exactly where its payload names the loan', () => {
  const named = EVENT_TYPES.filter((type) => 'emprestimo_id' in EVENTS[type].data.shape);
  expect(EVENT_TYPES.filter((type) => !OTHER_TYPES.includes(type))).toEqual(named);
});

const OF_LOAN = { emprestimo_id: LOAN_ID, numero_emprestimo: '2026-00000001' };
const OF_DOCUMENTS = {
  'docs_registry.pendente': { ...OF_LOAN, prazo: '2026-03-25' },
  'docs_registry.recebido': OF_LOAN,
};

test.each<[keyof typeof OF_DOCUMENTS, Stage]>([
  ['docs_registry.pendente', 'registered'],
  ['docs_registry.pendente', 'registering, deferred'],
  ['docs_registry.pendente', 'registered, documents awaited'],
  ['docs_registry.recebido', 'registered'],
  ['docs_registry.recebido', 'registered, documents awaited'],
  ['docs_registry.recebido', 'registered, documents received'],
])('%s is unexpected in the stage "%s"', (type, stage) => {
  const fact = { type, data: OF_DOCUMENTS[type] } as Fact;
  expect(judge([fact], after(...STAGES[stage]))).toMatchObject([{ key: 'type' }]);
});
