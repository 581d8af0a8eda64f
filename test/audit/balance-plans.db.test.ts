/** The work of a balance grows as its events do, also on tables that were never analysed. */
import { expect, test } from 'vitest';
import { balanceOf } from '../../src/audit/balance.ts';
import { dayOf } from '../../src/contract/calendar.ts';
import { createTestDatabase } from '../support/database.ts';
import { commitEvents, insertPartner, insertWebhook } from '../support/outbox.ts';

const WEBHOOKS = 3;

const database = await createTestDatabase();
const { sql } = database;
const partnerId = await insertPartner(sql);
for (let count = 0; count < WEBHOOKS; count += 1) await insertWebhook(sql, partnerId, 'https://partner.example/');
await sql`insert into webhook_history (webhook_id, partner_id, url, events, active, actor)
            select id, partner_id, url, events, active, 'test' from webhooks`;

interface Node {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Node[];
  readonly [removed: `Rows Removed by ${string}`]: number;
}

/** Rows that a plan's nodes looked at, each node's own. */
function workOf(node: Node): number {
  const removed = (['Filter', 'Join Filter', 'Index Recheck'] as const).map((by) => node[`Rows Removed by ${by}`] ?? 0);
  const own = (node['Actual Rows'] + removed.reduce((sum, rows) => sum + rows, 0)) * node['Actual Loops'];
  return own + (node.Plans ?? []).reduce((sum, plan) => sum + workOf(plan), 0);
}

async function explain(): Promise<number> {
  const { sql } = database;
  const slice = {
    days: [dayOf(new Date())],
    start: new Date(Date.now() - 3_600_000),
    end: new Date(Date.now() + 3_600_000),
  };
  const [row] = await sql<{ 'QUERY PLAN': { Plan: Node }[] }[]>`
    explain (analyze, timing off, format json) ${balanceOf(sql, slice)}`;
  return workOf(row?.['QUERY PLAN'][0]?.Plan as Node);
}

test.each([
  ['never analysed', 500],
  ['never analysed', 2_000],
  ['analysed', 0],
])('on tables %s, with %i events more, none is looked at more than a few dozen times', async (statistics, events) => {
  await commitEvents(database.sql, partnerId, events);
  if (statistics === 'analysed') await database.sql`analyze`;
  const [{ count }] = await database.sql<[{ count: number }]>`select count(*)::int as count from events`;
  expect((await explain()) / (count * WEBHOOKS)).toBeLessThan(25);
});
