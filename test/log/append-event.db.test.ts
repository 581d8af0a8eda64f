/** What `append_event` takes and refuses, as a core of another language meets it: through SQL alone, with its own role. */
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventCatalog } from '../../src/contract/event-catalog.ts';
import { EVENTS, type EventType, type NoticeName } from '../../src/contract/events.ts';
import type { Sql } from '../../src/db/pool.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createLogin, type Login } from '../support/logins.ts';
import { insertPartner, insertWebhook } from '../support/outbox.ts';
import { FAILED_DISBURSEMENT } from '../support/payloads.ts';

let database: TestDatabase;
let login: Login;
/** The core: its own role, its own search path. */
let core: Sql;
let partnerId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`create schema core_own`;
  await database.sql`create table core_own.events (id int)`;
  login = await createLogin(database, 'carteiro_core');
  await database.sql.unsafe(`grant usage on schema core_own to public; grant all on core_own.events to public`);
  core = postgres(login.url, { max: 2, onnotice: () => undefined, connection: { search_path: 'core_own' } });
  partnerId = await insertPartner(database.sql);
  await insertWebhook(database.sql, partnerId, 'https://partner.example/');
});
afterAll(async () => {
  await core.end();
  await login.remove();
  await database.drop();
});

interface Appended {
  readonly type?: string;
  readonly data?: string;
  readonly partner?: string;
  readonly version?: number | null;
  readonly family?: string;
  readonly stream?: string | null;
  readonly actor?: string | null;
}

function append(given: Appended) {
  const { type = 'desembolso.falhou', data = FAILED_DISBURSEMENT, partner = partnerId, version = 0 } = given;
  const { family = 'backoffice', stream = randomUUID(), actor = 'core' } = given;
  return core<{ fanOut: number }[]>`
    select fan_out as "fanOut" from carteiro.append_event(
      ${stream}, ${version}, ${type}, ${partner}, ${data}::text::json, ${actor}, null, null, ${family})`;
}

describe('a core with nothing but its role', () => {
  test('appends into the log of Carteiro, whatever its own search path finds, and learns the version', async () => {
    const stream = randomUUID();
    expect(await append({ stream })).toEqual([{ fanOut: 1 }]);
    const [after] = await core<{ version: number }[]>`select carteiro.stream_version(${stream}) as version`;
    expect(after).toEqual({ version: 1 });
    expect(await database.sql`select version from carteiro.events where stream = ${stream}`).toEqual([{ version: 1 }]);
    expect(await core`select from core_own.events`).toEqual([]);
    expect(await core<{ version: number }[]>`select carteiro.stream_version(${randomUUID()}) as version`).toEqual([
      { version: 0 },
    ]);
  });

  test.each([
    'select * from carteiro.events',
    'select * from carteiro.partners',
    "insert into carteiro.arrivals (webhook_id, partner_id, kind) values (uuidv7(), uuidv7(), 'look')",
    "select carteiro.make_test_delivery(uuidv7(), uuidv7(), 'x', '{}', 'x')",
    "select carteiro.claim_due('x', 1, null, '-infinity', null, '{}', '{}', '{}')",
  ])('may not: %s', async (statement) => {
    await expect(core.unsafe(statement)).rejects.toMatchObject({ code: '42501' });
  });
});

describe('it refuses, and leaves nothing', () => {
  const data = JSON.parse(FAILED_DISBURSEMENT) as Record<string, unknown>;
  const { emprestimo_id: loan, numero_emprestimo: number, motivo: reason } = data;
  test.each([
    ['an unknown type', { type: 'x.y' }, 'CT404', /"x.y" is unknown/],
    ['a notice', { type: 'webhook.falhando' }, 'CT404', /is a notice/],
    ['a reserved type', { type: 'repasse.pago' }, 'CT404', /reserved/],
    ['a family that there is not', { family: 'x' }, 'CT404', /family "x"/],
    ['an internal fact of the auction family', { type: 'documento.recebido', family: 'leilao' }, 'CT404', /family/],
    ['another object', { data: '{"foo":1}' }, 'CT400', /"foo" is unknown/],
    ['null', { data: 'null' }, 'CT400', /object, not null/],
    ['a list', { data: '[1,2]' }, 'CT400', /object, not array/],
    [
      'a missing key',
      { data: JSON.stringify({ emprestimo_id: loan, motivo: reason }) },
      'CT400',
      /"numero_emprestimo" is missing/,
    ],
    ['a key more', { data: JSON.stringify({ ...data, x: 1 }) }, 'CT400', /"x" is unknown/],
    [
      'a key twice',
      { data: FAILED_DISBURSEMENT.replace('{', `{"emprestimo_id":"${String(loan)}",`) },
      'CT400',
      /"emprestimo_id" stands where/,
    ],
    [
      'another order',
      { data: JSON.stringify({ motivo: reason, emprestimo_id: loan, numero_emprestimo: number }) },
      'CT400',
      /"motivo" stands where "emprestimo_id"/,
    ],
    ['another type', { data: JSON.stringify({ ...data, motivo: 3 }) }, 'CT400', /"motivo" must be string, not number/],
    [
      'an id that is none',
      { data: JSON.stringify({ ...data, emprestimo_id: 'x' }) },
      'CT400',
      /"emprestimo_id" is not of the form uuid/,
    ],
    ['no stream', { stream: null }, 'CT400', /^p_stream must not be null/],
    ['no actor', { actor: null }, 'CT400', /^p_actor must not be null/],
    ['no version', { version: null }, 'CT400', /^p_expected_version must not be null/],
    ['an unknown partner', { partner: '00000000-0000-7000-8000-000000000000' }, 'CT403', /no active partner/],
    ['a version that is ahead', { version: 3 }, 'CT409', /not at version 3/],
    ['a version below zero', { version: -1 }, 'CT409', /not at version -1/],
  ] as const)('%s', async (_, given, code, message) => {
    const stream = randomUUID();
    await expect(append({ stream, ...given })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
      hint: expect.any(String) as string,
    });
    expect(await database.sql`select from events where stream = ${stream}`).toEqual([]);
  });

  test('an inactive partner, and a version that is behind', async () => {
    const inactive = await insertPartner(database.sql);
    await database.sql`update partners set active = false where id = ${inactive}`;
    await expect(append({ partner: inactive })).rejects.toMatchObject({ code: 'CT403' });
    const stream = randomUUID();
    await append({ stream });
    await expect(append({ stream })).rejects.toMatchObject({ code: 'CT409' });
  });

  test('no value of the payload is repeated', async () => {
    const text = JSON.stringify({ ...data, emprestimo_id: '52998224725' });
    const { message, hint, where, detail } = await append({ data: text }).then(
      () => Promise.reject(new Error('it was appended')),
      (refusal: postgres.PostgresError) => refusal,
    );
    expect(JSON.stringify({ message, hint, where, detail })).not.toContain('52998224725');
  });
});

describe('what contract/ accepts, the database accepts', () => {
  const entries = eventCatalog().filter(({ kind }) => kind === 'emitted' || kind === 'internal');

  test.each(entries.map((entry) => [entry.name, entry] as const))('%s', async (type, entry) => {
    const schema = EVENTS[type as EventType].data;
    await fc.assert(
      fc.asyncProperty(exampleOf(entry.payload as Json), async (example) => {
        const parsed = schema.safeParse(example);
        fc.pre(parsed.success);
        expect(await append({ type, data: JSON.stringify(parsed.data) })).toHaveLength(1);
      }),
      { numRuns: 15, seed: 4_711 },
    );
  });

  const notices = eventCatalog().filter(({ kind }) => kind === 'notice');
  test.each(notices.map((entry) => [entry.name, entry] as const))('the notice %s', async (name, entry) => {
    const schema = EVENTS[name as NoticeName].data;
    await fc.assert(
      fc.asyncProperty(exampleOf(entry.payload as Json), async (example) => {
        const parsed = schema.safeParse(example);
        fc.pre(parsed.success);
        const data = JSON.stringify(parsed.data);
        const made = database.sql`select carteiro.make_notice(uuidv7(), ${name}, ${data}::text::json) as made`;
        expect(await made).toEqual([{ made: 0 }]);
      }),
      { numRuns: 15, seed: 4_711 },
    );
  });
});

type Json = Readonly<Record<string, unknown>>;

/** Values of a payload's schema. */
function exampleOf(schema: Json, definitions = (schema['$defs'] ?? {}) as Json): fc.Arbitrary<unknown> {
  const reference = schema['$ref'];
  if (typeof reference === 'string')
    return exampleOf(definitions[reference.replace('#/$defs/', '')] as Json, definitions);
  if (Array.isArray(schema['anyOf']))
    return fc.oneof(...(schema['anyOf'] as Json[]).map((one) => exampleOf(one, definitions)));
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  if (schema['const'] !== undefined) return fc.constant(schema['const']);
  if (Array.isArray(schema['examples'])) return fc.constantFrom(...(schema['examples'] as unknown[]));
  if (typeof schema['pattern'] === 'string' && schema['minLength'] === undefined) return fc.constant('a'.repeat(64));
  const types = new Set([schema['type']].flat());
  if (types.has('object')) {
    const properties = Object.entries(schema['properties'] as Json);
    return fc.record(Object.fromEntries(properties.map(([key, one]) => [key, exampleOf(one as Json, definitions)])));
  }
  if (types.has('boolean')) return fc.boolean();
  if (types.has('integer')) return fc.integer({ min: 0, max: 1_000_000 });
  if (types.has('number')) return types.has('null') ? fc.constantFrom(null, 0.25, -0.3333) : fc.integer({ min: 0 });
  return fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 60 });
}
