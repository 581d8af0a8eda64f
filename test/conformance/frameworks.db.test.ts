/**
 * The recipes in their real frameworks, and receivers written from the documentation's text alone, tried by an installation with a
 * webhook to each: no check fails. With a bug planted in it, one does.
 */
import { expect, test, type TestContext, vi } from 'vitest';
import { readRuns } from '../../src/conformance/runs.ts';
import { checksOf, failed, SECRET } from '../support/conformance.ts';
import { startDeliveryWorld } from '../support/delivery-world.ts';
import {
  ASP_NET,
  DJANGO,
  EXPRESS,
  FLASK,
  LARAVEL,
  ON_NODE_20,
  RAILS,
  SPRING_BOOT,
} from '../support/framework-receivers.ts';
import { FROM_DOCS } from '../support/from-docs.ts';
import { planted, PLANTED } from '../support/planted-bugs.ts';
import { type ReceiverProgram, startReceiverProgram } from '../support/receiver-programs.ts';

const world = await startDeliveryWorld();
const { pool, sql } = world.api.database;
const RECIPES = [EXPRESS, ...ON_NODE_20, FLASK, DJANGO, SPRING_BOOT, LARAVEL, RAILS, ASP_NET];

/** The checks that a receiver does not pass, each with what came. */
async function failedBy(program: ReceiverProgram, context: TestContext) {
  const partner = await world.subscriber();
  const { id, secret } = await partner.register();
  const url = await startReceiverProgram(program, secret, context);
  await sql`update webhooks set url = ${url} where id = ${id}`;
  await world.api.deps.conformance.start({ partnerId: partner.id, webhookId: id, actor: 'x' });
  const ended = async () => (await readRuns(pool, partner.id, id)).find((run) => !run.isAlive) ?? null;
  const { checks } = await vi.waitUntil(ended, { timeout: 300_000 });
  return checks.filter(({ verdict }) => verdict !== 'passou').map(({ code, seen }) => [code, seen]);
}

test.for(RECIPES)('the recipe of $name', async (program, context) => {
  expect(await failedBy(program, context)).toEqual([]);
});

/** They verify the contract's header, as its page says how: what only Standard Webhooks can do does not apply to them. */
test.for(FROM_DOCS)('$name, written from /docs/integracao.md', async (program, context) => {
  expect((await failedBy(program, context)).map(([code]) => code)).toEqual(['horario_velho']);
});

test.for(PLANTED)('$program.name that $bug', async (bug, context) => {
  const { program, left } = planted(bug);
  const url = await startReceiverProgram(program, SECRET, context);
  expect([...left]).toEqual([]);
  expect(failed(await checksOf({ url }))).toEqual(expect.arrayContaining([...bug.finds]));
});
