/** The reserved names of the catalog can be neither subscribed to nor emitted: by type, by schema, by database. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EMITTED_NAMES, EVENT_TYPES, EVENTS, type Fact, RESERVED_NAMES } from '../../src/contract/events.ts';
import { eventNames } from '../../src/contract/webhook.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { insertPartner } from '../support/outbox.ts';

let database: TestDatabase;
let partnerId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  partnerId = await insertPartner(database.sql);
});
afterAll(() => database.drop());

const namesIn = (definition: string) => new Set(definition.match(/[a-z_]+\.[a-z_]+(?=')/g));

test('the reserved names are the two of the contract', () => {
  expect(RESERVED_NAMES).toEqual(['repasse.pago', 'autorizacao.expirada']);
  // @ts-expect-error: a reserved name is no fact.
  const paid: Fact = { type: 'repasse.pago', data: {} };
  // @ts-expect-error: a reserved name is no fact.
  const expired: Fact = { type: 'autorizacao.expirada', data: {} };
  expect([paid.type, expired.type]).toEqual(RESERVED_NAMES);
});

describe.each(RESERVED_NAMES)('%s', (name) => {
  test('cannot be subscribed to, and is called reserved', () => {
    const issues = eventNames.safeParse([name]).error?.issues ?? [];
    expect(issues).toMatchObject([{ path: [0], message: expect.stringContaining('reservado') }]);
  });

  test('is refused by the log, inserted or appended', async () => {
    const { sql } = database;
    const refusal = { code: '23514', constraint_name: 'events_type' };
    const inserting = sql`
      insert into events (stream, version, type, partner_id, data, occurred_at, actor)
      values (${randomUUID()}, 1, ${name}, ${partnerId}, '{}', now(), 'test')`;
    await expect(inserting).rejects.toMatchObject(refusal);
    const appending = sql`select append_event(${randomUUID()}, 0, ${name}, ${partnerId}, '{}', 'test')`;
    await expect(appending).rejects.toMatchObject(refusal);
    expect(await sql`select from events where type = ${name}`).toEqual([]);
  });
});

describe('the database says the same as the event table', () => {
  test('about what is emitted', async () => {
    for (const name of Object.keys(EVENTS)) {
      const [row] = await database.sql`select is_emitted(${name}) as emitted`;
      expect([name, row?.['emitted']]).toEqual([name, EVENTS[name as keyof typeof EVENTS].kind === 'emitted']);
    }
    const [source] = await database.sql`select pg_get_functiondef('is_emitted(text)'::regprocedure) as text`;
    expect(namesIn(source?.['text'])).toEqual(new Set(EMITTED_NAMES));
  });

  test('about how many of them a registration may have', async () => {
    const [check] = await database.sql`
      select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'webhooks_events'`;
    expect(check?.['text'].match(/\d+/g).map(Number)).toEqual([1, EMITTED_NAMES.length]);
  });

  test('about what the log may hold', async () => {
    const [check] = await database.sql`
      select pg_get_constraintdef(oid) as text from pg_constraint where conname = 'events_type'`;
    expect(namesIn(check?.['text'])).toEqual(new Set(EVENT_TYPES));
  });
});
