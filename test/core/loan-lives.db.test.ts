/**
 * Random lives of loans through the core on a real database: whatever is asked, in whatever order, the projection is
 * the fold of the log, the archive is what the log says it is, and every message fits the contract.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { EVENTS, type EmittedName, type EventType } from '../../src/contract/events.ts';
import { DOCUMENT_MODES, DOCUMENT_TYPES, ISSUANCE_MODES, SIGNING_MODES } from '../../src/contract/statuses.ts';
import { readContent } from '../../src/core/documents/document-content.ts';
import {
  deliverDocument,
  deliverMissingDocuments,
  deliverPackage,
  type Document,
} from '../../src/core/documents/documents.ts';
import { type Handled, handleLoan } from '../../src/core/loans/handle-loan.ts';
import { readLoan } from '../../src/core/loans/read-loan.ts';
import { recordRegistration, requestRegistration } from '../../src/core/loans/registration.ts';
import { missingDocuments } from '../../src/loan/state.ts';
import { fold } from '../../src/loan/evolve.ts';
import type { LoanState } from '../../src/loan/state.ts';
import type { Provenance } from '../../src/log/append.ts';
import { readStream } from '../../src/log/read.ts';
import type { RegistrationAnswer } from '../../src/registry/port.ts';
import { CONTENTS } from '../support/document-pieces.ts';
import { createTestDatabase } from '../support/database.ts';
import { type Account, createPartner, issueLoan } from './loan-world.ts';
import {
  concludeIssuance,
  concludeSigning,
  failDisbursement,
  failIssuance,
  settleDisbursement,
} from '../../src/core/loans/steps.ts';

const database = await createTestDatabase();

type Step = (partner: Provenance, loan: LoanState) => Promise<Handled>;

function document(type: Document['type']): Document {
  const content = readContent(CONTENTS[type].toString('base64'));
  if ('refused' in content) throw new Error(content.refused);
  return { type, fileName: `${type}.bin`, content };
}

const answering =
  (answer: RegistrationAnswer): Step =>
  (partner, { id, registration }) => {
    // Without a registration it is one that was never asked.
    const own = answer.outcome === 'concluded' ? { ...answer, protocol: `REG-${id}` } : answer;
    const end = { loanId: id, registrationId: registration?.id ?? id, answer: own, documentsDeadlineDays: 15 };
    return recordRegistration(database.pool, partner, end);
  };

const STEPS: Readonly<Record<string, Step>> = {
  concludeIssuance: (partner, { id }) => concludeIssuance(database.pool, partner, id),
  failIssuance: (partner, { id }) => failIssuance(database.pool, partner, id, 'tentativas esgotadas'),
  concludeSigning: (partner, { id }) => concludeSigning(database.pool, partner, id),
  wholePackage: (partner, { id }) => deliverPackage(database.pool, partner, id, DOCUMENT_TYPES.map(document)),
  ccbAhead: (partner, { id }) => deliverPackage(database.pool, partner, id, [document('ccb_assinada')]),
  missing: (partner, loan) =>
    deliverMissingDocuments(database.pool, partner, loan.id, missingDocuments(loan).map(document)),
  selfie: (partner, { id }) => deliverDocument(database.pool, partner, id, document('selfie')),
  ccb: (partner, { id }) => deliverDocument(database.pool, partner, id, document('ccb_assinada')),
  register: (partner, { id }) => requestRegistration(database.pool, partner, id),
  registered: answering({ outcome: 'concluded', protocol: 'REG-1' }),
  refused: answering({ outcome: 'failed', error: 'margem insuficiente' }),
  settle: (partner, { id }) => settleDisbursement(database.pool, partner, id),
  failTransfer: (partner, { id }) => failDisbursement(database.pool, partner, id, 'conta inválida'),
  endBond: (partner, { id }) =>
    handleLoan(database.pool, partner, id, () => ({
      type: 'endBond',
      on: '2026-03-01',
      reason: { codigo: '10', descricao: 'Pedido do trabalhador' },
    })),
};

/** The steps that lead a loan on from where it stands. */
function waysOn({ status, signing, documentMode, registration, obligation }: LoanState): readonly string[] {
  if (registration?.status === 'processando') return ['registered'];
  if (status === 'emitindo') return ['concludeIssuance'];
  if (status === 'em_assinatura' && signing === 'internal') return ['concludeSigning'];
  if (status === 'em_assinatura') return documentMode === 'agrupada' ? ['wholePackage'] : ['ccbAhead', 'register'];
  if (status === 'aguardando_averbacao') return ['register'];
  return obligation?.situation === 'aguardando' ? ['settle', 'missing', 'selfie', 'ccb'] : ['settle'];
}

/** Usually a way on, else any step at all. */
const step = fc.record({ any: fc.option(fc.constantFrom(...Object.keys(STEPS)), { freq: 2 }), way: fc.nat(11) });
type Choice = { readonly any: string | null; readonly way: number };

function chosen({ any, way }: Choice, loan: LoanState): Step {
  const ways = waysOn(loan);
  const made = STEPS[any ?? ways[way % ways.length] ?? ''];
  if (made === undefined) throw new Error('no such step');
  return made;
}

const account: fc.Arbitrary<Account> = fc.record({
  signing: fc.constantFrom(...SIGNING_MODES, 'externa' as const),
  documents: fc.constantFrom(...DOCUMENT_MODES, 'diferida' as const),
  issuance: fc.constantFrom(...ISSUANCE_MODES),
});

async function expectSound(partner: Provenance, loanId: string): Promise<LoanState> {
  const { pool, sql } = database;
  const events = await readStream(sql, loanId);
  const projected = await readLoan(pool, partner.partnerId, loanId);
  if (projected === null) throw new Error(`loan ${loanId} has no projection`);
  expect(projected).toEqual(fold(events));
  const emitted = events.filter(({ type }) => EVENTS[type].kind === 'emitted');
  const messages = await sql<{ body: Buffer }[]>`
    select m.body from messages m join events e on e.id = m.event_id where e.stream = ${loanId} order by e.version`;
  const sent = messages.map(({ body }) => JSON.parse(body.toString()) as { evento: EmittedName; data: object });
  expect(sent.map(({ evento, data }) => ({ evento, data }))).toEqual(
    emitted.map(({ type, data }) => ({ evento: type, data })),
  );
  for (const { evento, data } of sent) {
    const schema = EVENTS[evento].data;
    expect(schema.parse(data)).toEqual(data);
    expect(Object.keys(data)).toEqual(Object.keys(schema.shape));
  }
  const archived = await sql<{ type: string; sha256: string }[]>`
    select type, encode(sha256, 'hex') as sha256 from documents where loan_id = ${loanId} order by type`;
  const received = events.flatMap(({ type, data }) => (type === 'documento.recebido' ? [data] : []));
  expect([...archived]).toEqual(
    received.map(({ tipo, sha256 }) => ({ type: tipo, sha256 })).toSorted((a, b) => (a.type < b.type ? -1 : 1)),
  );
  return projected;
}

test('after every command of a random life, projection, archive and messages are what the log says', async () => {
  const met = new Map<EventType, number>();
  let lives = 0;
  const life = fc.asyncProperty(account, fc.array(step, { minLength: 4, maxLength: 16 }), async (modes, choices) => {
    const partner = await createPartner(database.sql, modes);
    lives += 1;
    const { id } = await issueLoan(database.pool, partner, `life-${lives}`);
    let loan = await expectSound(partner, id);
    for (const choice of choices) {
      const handled = await chosen(choice, loan)(partner, loan);
      const after = await expectSound(partner, id);
      // What the core answered is what is stored; a refusal left the loan as it was.
      expect(after).toEqual('ok' in handled ? handled.ok : loan);
      loan = after;
    }
    for (const { type } of await readStream(database.sql, id)) met.set(type, (met.get(type) ?? 0) + 1);
  });
  await fc.assert(life, { numRuns: 100, endOnFailure: true });
  for (const type of ['assinatura.pendente', 'docs_registry.recebido', 'desembolso.liquidado'] as const)
    expect(met.get(type) ?? 0, `lives with ${type}`).toBeGreaterThan(0);
});
