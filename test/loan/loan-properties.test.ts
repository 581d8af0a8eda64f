import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EVENTS, type Fact } from '../../src/contract/events.ts';
import { loanResource } from '../../src/contract/resources/loan-resource.ts';
import { DOCUMENT_MODES, DOCUMENT_TYPES, ISSUANCE_MODES, SIGNING_MODES } from '../../src/contract/statuses.ts';
import type { Command } from '../../src/loan/command.ts';
import { decide } from '../../src/loan/decide.ts';
import { evolve, fold } from '../../src/loan/evolve.ts';
import { isDeferred, type LoanState } from '../../src/loan/state.ts';
import { view } from '../../src/loan/view.ts';
import { COMMANDS, contract, pieces, recorded } from './loan-spec.ts';

const issue: fc.Arbitrary<Command> = fc
  .record({
    signing: fc.constantFrom(...SIGNING_MODES),
    documents: fc.constantFrom(...DOCUMENT_MODES),
    issuance: fc.constantFrom(...ISSUANCE_MODES),
  })
  .map(({ signing, documents, issuance }) => ({ type: 'issue', issuance, contract: contract(signing, documents) }));

const documents = fc.oneof(
  fc.constant(pieces()),
  fc.constant(pieces(['ccb_assinada'])),
  fc.constant(pieces(DOCUMENT_TYPES.filter((type) => type !== 'ccb_assinada'))),
  fc.subarray([...DOCUMENT_TYPES]).map((types) => pieces(types)),
);
const registrationId = fc.constantFrom('0198c0de-0000-7000-8000-00000000000a', '0198c0de-0000-7000-8000-00000000000b');

function concludeRegistration(id: string): Command {
  return { ...COMMANDS.concludeRegistration, registrationId: id };
}

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.constantFrom<Command>(...Object.values(COMMANDS)),
  documents.map((delivered): Command => ({ type: 'deliverPackage', documents: delivered })),
  documents.map((delivered): Command => ({ type: 'deliverMissingDocuments', documents: delivered })),
  fc
    .constantFrom(...DOCUMENT_TYPES)
    .map((type): Command => ({ type: 'deliverDocument', document: { type, sha256: 'ef'.repeat(32) } })),
  registrationId.map((id): Command => ({ type: 'requestRegistration', registrationId: id })),
  registrationId.map(concludeRegistration),
  registrationId.map((id): Command => ({ type: 'failRegistration', registrationId: id, error: 'recusada' })),
);

/** One step of a life: usually one of the commands that the loan accepts then, else any command at all. */
const step = fc.record({
  any: fc.option(command, { freq: 3 }),
  likely: fc.nat(),
});
type Step = { readonly any: Command | null; readonly likely: number };

const LIKELY: readonly Command[] = [
  ...Object.values(COMMANDS).filter(({ type }) => type !== 'endBond' && type !== 'failIssuance'),
  { type: 'deliverPackage', documents: pieces(['ccb_assinada']) },
  ...DOCUMENT_TYPES.map((type): Command => ({ type: 'deliverDocument', document: { type, sha256: 'ef'.repeat(32) } })),
];

function chosen({ any, likely }: Step, state: LoanState | null): Command | undefined {
  if (any !== null) return any;
  const accepted = LIKELY.filter((each) => 'ok' in decide(each, state));
  return accepted[likely % accepted.length];
}

interface Life {
  readonly facts: readonly Fact[];
  /** The state after each accepted command, with the facts that led there. */
  readonly steps: readonly {
    readonly before: LoanState | null;
    readonly facts: readonly Fact[];
    readonly after: LoanState;
  }[];
}

function live(first: Command, rest: readonly Step[]): Life {
  let state: LoanState | null = null;
  const steps: { before: LoanState | null; facts: readonly Fact[]; after: LoanState }[] = [];
  for (const each of [{ any: first, likely: 0 }, ...rest]) {
    const asked = chosen(each, state);
    const decision = asked && decide(asked, state);
    if (decision === undefined || !('ok' in decision)) continue;
    const before: LoanState | null = state;
    for (const event of recorded(decision.ok, before?.version)) state = evolve(state, event);
    if (state !== null) steps.push({ before, facts: decision.ok, after: state });
  }
  return { facts: steps.flatMap(({ facts }) => facts), steps };
}

const life = fc
  .tuple(issue, fc.array(step, { minLength: 10, maxLength: 40 }))
  .map(([first, rest]) => live(first, rest));

function check(property: (life: Life) => void): void {
  fc.assert(fc.property(life, property), { numRuns: 400 });
}

const count = (facts: readonly Fact[], ...types: Fact['type'][]) =>
  facts.filter(({ type }) => types.includes(type)).length;

describe('whatever is asked of a loan, in whatever order', () => {
  test('an issuance ends at most once, and only an asynchronous one has an end', () => {
    check(({ facts }) => {
      const ends = count(facts, 'emprestimo.emitido', 'emprestimo.emissao_falhou');
      expect(ends).toBeLessThanOrEqual(count(facts, 'emprestimo.solicitado'));
      expect(count(facts, 'emprestimo.contratado', 'emprestimo.solicitado')).toBe(1);
    });
  });

  test('signing concludes at most once, and is left pending at most once', () => {
    check(({ facts }) => {
      expect(count(facts, 'assinatura.concluida')).toBeLessThanOrEqual(1);
      expect(count(facts, 'assinatura.pendente')).toBeLessThanOrEqual(1);
    });
  });

  test('every piece is received at most once, and external signing concludes with all five', () => {
    check(({ steps }) => {
      const last = steps.at(-1)?.after;
      expect(new Set(last?.receivedDocuments).size).toBe(last?.receivedDocuments.length);
      expect(last?.signing === 'externa' && last.signed).toBe(last?.receivedDocuments.length === 5);
    });
  });

  test('a registration has at most one outcome', () => {
    check(({ facts }) => {
      const asked = count(facts, 'averbacao.solicitada');
      const ended = count(facts, 'averbacao.concluida', 'averbacao.falhou');
      expect(ended).toBeLessThanOrEqual(asked);
      expect(asked - ended).toBeLessThanOrEqual(1);
      expect(count(facts, 'averbacao.concluida')).toBeLessThanOrEqual(1);
      expect(count(facts, 'desembolso.liquidado')).toBeLessThanOrEqual(1);
    });
  });

  test('documents after the registration never move the status, nor disbursement the documents', () => {
    check(({ steps }) => {
      const late = steps.filter(({ before, facts }) => before?.obligation && count(facts, 'documento.recebido') > 0);
      const transfers = steps.filter(({ facts }) => count(facts, 'desembolso.liquidado', 'desembolso.falhou') > 0);
      expect(late.map(({ after }) => after.status)).toEqual(late.map(({ before }) => before?.status));
      expect(transfers.map(({ after }) => after.obligation)).toEqual(transfers.map(({ before }) => before?.obligation));
      expect(steps.filter(({ after }) => !isDeferred(after) && after.obligation !== null)).toEqual([]);
    });
  });

  test('a loan closed for end of bond, or cancelled, stays so', () => {
    check(({ steps }) => {
      const final = new Set<string>(['encerrada_desligamento', 'cancelada']);
      const moved = steps.filter(
        ({ before, after }) => before && final.has(before.status) && after.status !== before.status,
      );
      expect(moved).toEqual([]);
    });
  });

  test('every payload and every state fits the contract, and the state is the fold of its events', () => {
    check(({ facts, steps }) => {
      for (const { type, data } of facts) expect(EVENTS[type].data.parse(data)).toEqual(data);
      for (const { after } of steps) expect(loanResource.parse(view(after))).toEqual(view(after));
      expect(fold(recorded(facts))).toEqual(steps.at(-1)?.after);
    });
  });

  test('lives reach far enough for the properties to mean something', () => {
    const lives = fc.sample(life, { numRuns: 400, seed: 7 });
    for (const type of ['docs_registry.recebido', 'desembolso.liquidado', 'trabalhador.vinculo_novo'] as const)
      expect(lives.filter(({ facts }) => count(facts, type) > 0).length).toBeGreaterThan(10);
  });
});
