/** Pieces and facts commit together or not at all; what travels over HTTP is tested there. */
import { describe, expect, test } from 'vitest';
import type { DocumentType } from '../../src/contract/statuses.ts';
import { readContent } from '../../src/core/documents/document-content.ts';
import {
  deliverDocument,
  deliverMissingDocuments,
  deliverPackage,
  type Document,
} from '../../src/core/documents/documents.ts';
import { readLoan } from '../../src/core/loans/read-loan.ts';
import { recordRegistration, requestRegistration } from '../../src/core/loans/registration.ts';
import type { Provenance } from '../../src/log/append.ts';
import { CONTENTS, sha256Of } from '../support/document-pieces.ts';
import { createTestDatabase } from '../support/database.ts';
import { accepted, createPartner, eventTypes, issueLoan } from './loan-world.ts';

const ALL = Object.keys(CONTENTS) as DocumentType[];

const database = await createTestDatabase();
const grouped = await createPartner(database.sql, { signing: 'externa', documents: 'agrupada' });
const deferred = await createPartner(database.sql, { signing: 'externa', documents: 'diferida' });

async function newLoan(partner: Provenance): Promise<string> {
  return (await issueLoan(database.pool, partner)).id;
}

/** A deferred loan that awaits all five pieces. */
async function awaiting(): Promise<string> {
  const loanId = await newLoan(deferred);
  const { registration } = await accepted(requestRegistration(database.pool, deferred, loanId));
  const answer = { outcome: 'concluded', protocol: `REG-${loanId}` } as const;
  const end = { loanId, registrationId: registration?.id ?? '', answer, documentsDeadlineDays: 15 };
  await accepted(recordRegistration(database.pool, deferred, end));
  return loanId;
}

function document(type: DocumentType): Document {
  const content = readContent(CONTENTS[type].toString('base64'));
  if ('refused' in content) throw new Error(content.refused);
  return { type, fileName: null, content };
}

/** A piece whose digest is not that of its bytes: the table refuses it. */
function corrupted(type: DocumentType): Document {
  const sound = document(type);
  return { ...sound, content: { ...sound.content, sha256: 'ab'.repeat(32) } };
}

const archived = (loanId: string) => database.sql<{ type: string; content: Buffer; sha256: string }[]>`
  select type, content, encode(sha256, 'hex') as sha256 from documents where loan_id = ${loanId} order by type`;

describe('a delivery of pieces', () => {
  test('archives the very bytes, at the moment that the log knows', async () => {
    const loanId = await newLoan(grouped);
    const state = await accepted(deliverPackage(database.pool, grouped, loanId, ALL.map(document)));
    expect(state.signed).toBe(true);
    const rows = await archived(loanId);
    expect(rows).toEqual(
      ALL.toSorted().map((type) => ({ type, content: CONTENTS[type], sha256: sha256Of(CONTENTS[type]) })),
    );
    const unequal = await database.sql`
      select 1
      from events e left join documents d
        on d.loan_id = e.stream and d.type = e.data ->> 'tipo' and encode(d.sha256, 'hex') = e.data ->> 'sha256'
          and d.received_at = e.occurred_at and d.partner_id = e.partner_id
      where e.stream = ${loanId} and e.type = 'documento.recebido' and d.loan_id is null`;
    expect(unequal).toHaveLength(0);
  });

  test.each(['package', 'batch'])(
    'of which one piece cannot be archived leaves no fact and no piece (%s)',
    async (kind) => {
      const [partner, deliver] = kind === 'package' ? [grouped, deliverPackage] : [deferred, deliverMissingDocuments];
      const loanId = await (kind === 'package' ? newLoan(grouped) : awaiting());
      const before = await readLoan(database.pool, partner.partnerId, loanId);
      const types = await eventTypes(database.sql, loanId);
      const pieces = [...ALL.slice(0, 4).map(document), ...ALL.slice(4).map(corrupted)];
      await expect(deliver(database.pool, partner, loanId, pieces)).rejects.toThrow('documents_sha256');
      expect(await archived(loanId)).toEqual([]);
      expect(await eventTypes(database.sql, loanId)).toEqual(types);
      expect(await readLoan(database.pool, partner.partnerId, loanId)).toEqual(before);
      await accepted(deliver(database.pool, partner, loanId, ALL.map(document)));
    },
  );

  test('that the loan refuses archives nothing', async () => {
    const loanId = await newLoan(grouped);
    expect(await deliverMissingDocuments(database.pool, grouped, loanId, ALL.map(document))).toHaveProperty(
      'refused.kind',
      'loanState',
    );
    expect(await deliverDocument(database.pool, grouped, loanId, document('selfie'))).toHaveProperty(
      'refused.kind',
      'loanState',
    );
    expect(await deliverPackage(database.pool, grouped, loanId, [document('selfie')])).toHaveProperty(
      'refused.kind',
      'mismatch',
    );
    expect(await deliverPackage(database.pool, deferred, loanId, ALL.map(document))).toEqual({
      refused: { kind: 'notFound' },
    });
    expect(await archived(loanId)).toEqual([]);
  });

  test('that ends the obligation emits docs_registry.recebido and assinatura.concluida right after the last piece', async () => {
    const loanId = await awaiting();
    for (const type of ALL) await accepted(deliverDocument(database.pool, deferred, loanId, document(type)));
    expect((await eventTypes(database.sql, loanId)).slice(-4)).toEqual([
      'documento.recebido',
      'documento.recebido',
      'docs_registry.recebido',
      'assinatura.concluida',
    ]);
  });
});

test('of 20 deliveries of one piece at once one is archived, and the batch that meets them is decided afresh', async () => {
  const loanId = await awaiting();
  const rest = ALL.filter((type) => type !== 'selfie').map(document);
  const [batch, ...single] = await Promise.all([
    deliverMissingDocuments(database.pool, deferred, loanId, rest),
    ...Array.from({ length: 20 }, () => deliverDocument(database.pool, deferred, loanId, document('selfie'))),
  ]);
  expect(single.filter((handled) => 'ok' in handled)).toHaveLength(1);
  expect(single.filter((handled) => 'refused' in handled)).toHaveLength(19);
  if (!('ok' in batch)) await accepted(deliverMissingDocuments(database.pool, deferred, loanId, rest));
  expect(await archived(loanId)).toHaveLength(5);
  const types = await eventTypes(database.sql, loanId);
  expect(types.filter((type) => type === 'documento.recebido')).toHaveLength(5);
  expect(types.filter((type) => type === 'docs_registry.recebido')).toHaveLength(1);
});
