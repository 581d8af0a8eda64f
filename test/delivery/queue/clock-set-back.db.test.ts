/** The database's clock is set back an hour while claims are held: they lie ahead of it. */
import { beforeEach, expect, test } from 'vitest';
import { ClaimsAhead } from '../../../src/delivery/queue/upkeep/claims-ahead.ts';
import { LEASE_S } from '../../../src/delivery/queue/lease.ts';
import { record } from '../../../src/delivery/queue/record.ts';
import { createTestDatabase } from '../../support/database.ts';
import { DELIVERED } from '../../support/delivered.ts';
import { commitEvents, insertPartner, insertWebhook, readAttempts, readDeliveries } from '../../support/outbox.ts';
import { silentLog } from '../../support/silent-log.ts';
import { takeTurn } from '../../support/turn.ts';

let partnerId: string;
let webhookId: string;
/** The clock before it is set back, and the time it is set back to. */
let before: Date;
let back: Date;
let atMs: number;
let ahead: ClaimsAhead;

const database = await createTestDatabase();
const { pool, sql } = database;
beforeEach(async () => {
  await sql`truncate partners, webhooks, webhook_history, events, deliveries, arrivals, lanes, attempts cascade`;
  partnerId = await insertPartner(sql);
  webhookId = (await insertWebhook(sql, partnerId, 'https://partner.example/')).id;
  back = new Date(Date.now() + 1_000);
  before = new Date(back.getTime() + 3_600_000);
  atMs = 0;
  ahead = new ClaimsAhead({ pool, log: silentLog, monotonicMs: () => atMs, now: () => back });
});

/** Appends and claims as a poller did before the clock was set back. */
async function claimBefore(events: number) {
  await commitEvents(sql, partnerId, events);
  await sql`update deliveries set next_attempt_at = ${before} where attempts = 0`;
  return takeTurn(pool, 'dead/1', 100, before);
}

async function lookAt(ms: number): Promise<void> {
  atMs = ms;
  await ahead.endNowAndThen();
}

const take = (name: string) => takeTurn(database.pool, name, 100, back);

test('what a dead poller held is taken over a lease after another one first saw it, with the row of what was lost', async () => {
  const [first] = await claimBefore(1);
  expect(await take('alive/1')).toEqual([]);
  await lookAt(30_000);
  await lookAt(30_000 + (LEASE_S - 1) * 1_000);
  expect(await take('alive/2')).toEqual([]);
  await lookAt(30_000 + (LEASE_S + 5) * 1_000);
  const [second] = await take('alive/3');
  expect([second?.id, second?.number]).toEqual([first?.id, 2]);
  expect(await readAttempts(database.sql, String(first?.id))).toMatchObject([
    { number: 1, outcome: 'desconhecido', startedAt: before },
  ]);
});

test('a saturated lane wakes, and what was appended after the clock was set back is not held up', async () => {
  expect(await claimBefore(12)).toHaveLength(8);
  await database.sql`update deliveries set next_attempt_at = ${back} where claimed_at is null`;
  expect(await take('alive/1')).toEqual([]);
  await lookAt(30_000);
  await lookAt(80_000);
  expect(await take('alive/2')).toHaveLength(8);
});

test('a living poller that reports within its lease keeps its claim', async () => {
  const [claimed] = await claimBefore(1);
  await lookAt(30_000);
  await lookAt(60_000);
  const report = {
    deliveryId: String(claimed?.id),
    webhookId,
    partnerId,
    number: 1,
    claim: 'dead/1',
    url: 'https://partner.example/',
    keyId: 'test',
    bodyDigest: '0'.repeat(64),
    startedAtMs: 0,
    startedByMs: back.getTime(),
    result: DELIVERED,
  };
  expect(await record(pool, [report], () => 0, back)).toEqual(['current']);
  await lookAt(90_000);
  expect(await readDeliveries(sql, webhookId)).toMatchObject([{ status: 'entregue', attempts: 1 }]);
});

test('a claim that another transaction made a moment ahead is not counted, nor one of this very time', async () => {
  await commitEvents(sql, partnerId, 1);
  await takeTurn(pool, 'alive/1', 10, new Date(back.getTime() + 900));
  await lookAt(30_000);
  await lookAt(80_000);
  expect(await readDeliveries(sql, webhookId)).toMatchObject([{ claimedBy: 'alive/1', attempts: 1 }]);
});
