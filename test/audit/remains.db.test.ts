/** What erasing leaves: PostgreSQL and the sealer make the same of it, and of what is left the same again. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { restOf } from '../../src/audit/seals/remains.ts';
import { eventCatalog } from '../../src/contract/event-catalog.ts';
import { KEPT_TEXTS } from '../../src/contract/erasure.ts';
import { createTestDatabase, openPool } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';
import { untilSettled } from '../support/settled.ts';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';

const { sql } = await createTestDatabase();
const CPF = '52998224725';

const NAMES = [
  ...KEPT_TEXTS.slice(0, 6),
  ...eventCatalog().flatMap(({ keys }) => keys.filter((key) => !key.includes('.'))),
];
const TEXTS = [
  '',
  'João',
  CPF,
  `529.982.247-25`,
  `nº ${CPF}, x`,
  '2026-01-31',
  'a"b\\c',
  'é\n',
  'apagado',
  '{"x": "y"}',
  ' : ',
];
const OTHERS = ['1', '-0.50', '1e3', 'true', 'false', 'null', '[]', '{}'];

/** Texts of JSON by a walk over numbers: the same every time. */
function makeText(seed: number, depth = 0): string {
  const next = (of: readonly string[], by: number) => of[(seed * by + depth * 7) % of.length] ?? '';
  const blank = ['', '', ' ', '\n\t'][(seed + depth) % 4] ?? '';
  const kind = (seed >> depth) % 5;
  if (depth > 2 || kind === 0) return seed % 3 === 0 ? next(OTHERS, 5) : JSON.stringify(next(TEXTS, 3));
  const parts = Array.from({ length: (seed % 4) + 1 }, (_, index) => makeText(seed * 31 + index * 17 + 1, depth + 1));
  if (kind === 1) return `[${blank}${parts.join(`,${blank}`)}]`;
  const fields = parts.map((part, index) => {
    const name = JSON.stringify(next(NAMES, index + 3));
    return `${index % 3 === 2 ? name.replace(/[a-z]/, (letter) => `\\u00${letter.codePointAt(0)?.toString(16)}`) : name}${blank}:${blank}${part}`;
  });
  return `{${fields.join(`${blank},`)}${blank}}`;
}

test('PostgreSQL and the sealer leave the same of 3,000 texts, and of what is left the same again', async () => {
  const texts = [
    ...Array.from({ length: 3_000 }, (_, seed) => makeText(seed)),
    String.raw`{"numero":"\u0000"}`,
    String.raw`{"numero":"\ud800"}`,
    String.raw`{"numero":"\\u0000","valor":1}`,
  ];
  const rows = await sql<{ text: string; left: string; others: string }[]>`
    select text, erased(text::json)::text as left, without_cpf(text::json, ${CPF})::text as others
    from unnest(${texts}::text[]) as text`;
  for (const { text, left, others } of rows) {
    expect([text, restOf(text)]).toEqual([text, left]);
    expect([text, restOf(left)]).toEqual([text, left]);
    // Of an event of another worker the CPF alone goes, and what would be left of it stays what it was.
    expect([text, restOf(others)]).toEqual([text, left]);
  }
});

test('an auditor without CPFs compares what is left of erased events, too', async () => {
  const database = await createTestDatabase();
  const { partnerId } = await insertSubscriber(database.sql);
  await commitEvents(database.sql, partnerId, 3);
  await untilSettled(database.sql);
  await sealAll(database.pool);
  const login = await createLogin(database, 'carteiro_auditor');
  const auditor = openPool(login.url, { max: 2 });
  const findings = async () => {
    const [masked, whole] = [await verifySeals(auditor), await verifySeals(database.pool)];
    expect(masked.findings).toEqual(whole.findings);
    return whole.findings;
  };
  const order = randomUUID();
  await database.sql`insert into erasure_orders (id, actor, reason, events, pages) values (${order}, 'ana', 'x', 1, 1)`;
  await database.sql`
    insert into erasure_pages (order_id, number, event_ids, remains)
    select ${order}, 1, array[id], array[sha256(convert_to(erased(data)::text, 'UTF8'))] from events order by id limit 1`;
  await database.sql`select erase_page(${order}, 1)`;
  expect(await findings()).toEqual([]);
  await database.sql`update events set data = '{"valor":1}' where salt is null`;
  await database.sql`update erasure_pages set remains = array[sha256('{"valor":1}')]`;
  expect(await findings()).toMatchObject([{ tipo: 'restante_alterado', selo: 1, tabela: 'events', colunas: ['data'] }]);
});
