/** The reserved names of the catalog can be neither subscribed to nor emitted: by type, by schema, by database. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { EVENTS, type Fact, RESERVED_NAMES } from '../../src/contract/events.ts';
import { eventNames } from '../../src/contract/resources/webhook.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertPartner } from '../support/outbox.ts';

const database = await createTestDatabase();
const partnerId = await insertPartner(database.sql);

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

  test('is refused by the log', async () => {
    const { sql } = database;
    const appending = sql`select append_event(${randomUUID()}, 0, ${name}, ${partnerId}, '{}', 'test')`;
    await expect(appending).rejects.toMatchObject({ code: 'CT404', message: expect.stringContaining('reserved') });
    const subscribing = sql`
      insert into webhooks (id, partner_id, url, events, encrypted_secret)
      values (uuidv7(), ${partnerId}, 'https://partner.example/', ${[name]}, 'x')`;
    await expect(subscribing).rejects.toMatchObject({ code: 'CT404' });
    expect(await sql`select from events where type = ${name}`).toEqual([]);
  });
});

test('the database has the event table of the contract, name by name', async () => {
  const rows = await database.sql<{ name: string; kind: string }[]>`select name, kind from event_types`;
  expect(new Map(rows.map(({ name, kind }) => [name, kind]))).toEqual(
    new Map(Object.entries(EVENTS).map(([name, { kind }]) => [name, kind])),
  );
});
