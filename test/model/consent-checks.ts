/** What consent must keep over three pollers that take turns: one in flight, one a minute behind ten failures, an end by a 2xx. */
import type { Pool, Sql } from '../../src/db/pool.ts';
import type { SendResult } from '../../src/delivery/sending/send.ts';
import { changeWebhook } from '../../src/webhooks/changes.ts';
import { DELIVERED } from '../support/delivered.ts';
import { startHeldPoller } from '../support/held-poller.ts';
import { commitEvents, insertSubscriber } from '../support/outbox.ts';

const BROKEN: SendResult = { ...DELIVERED, outcome: 'resposta_nao_2xx', statusCode: 404 };
const [FIRST, SECOND] = ['https://partner.example/um', 'https://partner.example/dois'];
const MANY = 10;

export async function askForConsent(pool: Pool, sql: Sql): Promise<void> {
  const { partnerId, id } = await insertSubscriber(sql, FIRST);
  await sql`update webhooks set refusals = 0 where id = ${id}`;
  await commitEvents(sql, partnerId, 20);
  const startMs = Date.now() + 60_000;
  const pollers = ['um', 'dois', 'três'].map((name) => startHeldPoller(pool, name, 64, startMs));
  const flying = () => pollers.reduce((sum, poller) => sum + poller.flying(), 0);
  /** Each poller takes what it may; another one begins each time. */
  const fill = async (atS: number) => {
    pollers.push(pollers.shift() as (typeof pollers)[number]);
    for (const poller of pollers) await poller.fill(atS);
    return flying();
  };
  const end = async (result: SendResult) => {
    for (const poller of pollers) await poller.end(result);
  };
  const refusals = async () => {
    const [row] = await sql<[{ refusals: number | null }]>`select refusals from webhooks where id = ${id}`;
    return row.refusals;
  };
  const move = (url: string) =>
    pool.transaction((tx) => changeWebhook(tx, { partnerId, id, actor: 'test', requestId: null }, { url }));

  for (let failed = 0; failed < MANY; failed += 1) {
    const count = await fill(failed);
    if (count !== 1) throw new Error(`${count} are in flight before a first 2xx, behind ${failed} failures`);
    await end(BROKEN);
  }
  for (const sinceS of [MANY, MANY + 61]) {
    if ((await fill(sinceS)) !== 0) throw new Error('one left within a minute of the tenth failure');
    if ((await fill(sinceS + 60)) !== 1) throw new Error('none leaves when the minute is over');
    if (sinceS === MANY) await end(BROKEN);
  }
  const knowing = pollers.find((poller) => poller.flying() > 0);
  await end(DELIVERED);
  if ((await refusals()) !== null) throw new Error('a 2xx did not end it');
  if ((await fill(132)) < 2) throw new Error('one at a time leaves behind a 2xx');

  await move(SECOND);
  if ((await refusals()) !== 0) throw new Error('a new URL does not begin again');
  // Their keepers have read the lanes again when the old URL answers.
  await fill(133);
  await end(DELIVERED);
  if ((await refusals()) !== 0) throw new Error('what the old URL answers counts for the new one');
  await move(FIRST);
  for (const atS of [140, 800]) {
    await commitEvents(sql, partnerId, 3);
    await knowing?.fill(atS);
    await knowing?.end(DELIVERED);
  }
  if ((await refusals()) !== null) throw new Error('a URL that came back waits for ever');

  // Its poller has forgotten by then that the old one had answered.
  await commitEvents(sql, partnerId, 3);
  await knowing?.fill(1_500);
  await move(SECOND);
  await knowing?.end(DELIVERED);
  if ((await refusals()) !== 0) throw new Error('what the old URL answers counts for the new one');
}
