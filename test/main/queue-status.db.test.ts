/** The queue as an operator sees it: with no poller, with one, and live on a terminal. */
import { beforeAll, expect, test } from 'vitest';
import { callCommand } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createLogin } from '../support/logins.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook, startPollerProcess } from '../support/poller-process.ts';
import { hang, startReceiver } from '../support/receiver.ts';
import { CTRL_C, openTerminal, terminalOpener } from '../support/terminal.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});

const env = (url = database.url) => ({ DATABASE_URL: url, SANDBOX: 'true', LOG_LEVEL: 'warn' });

interface Status {
  readonly pending: number;
  readonly inFlight: number;
  readonly muted: number;
  readonly falhando: number;
  readonly oldestDueS: number;
  readonly perSecond: { readonly delivered: number };
  readonly lanes: readonly { readonly webhook: string; readonly state: string; readonly pending: number }[];
  readonly pollers: readonly { readonly inFlight: number; readonly attemptsLastMinute: number }[];
}

async function status(...args: string[]): Promise<Status> {
  const { code, stdout, stderr } = await callCommand(['queue', 'status', '--json', ...args], env());
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Status;
}

test('tells what waits, who is late, and who moves it', async () => {
  const { sql } = database;
  const receiver = await startReceiver();
  receiver.answerWith(hang(), '/hangs');
  const partnerId = await insertPartner(sql);
  const good = await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/good`);
  const hanging = await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/hangs`);
  const quiet = await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/quiet`);
  expect(await status()).toMatchObject({ pending: 0, lanes: [], pollers: [] });
  await callCommand(['webhook', 'mute', quiet.id], env());
  await commitEvents(sql, partnerId, 3);

  const alone = await status();
  expect(alone).toMatchObject({ pending: 9, inFlight: 0, muted: 1, pollers: [] });
  expect(alone.oldestDueS).toBeGreaterThan(0);
  expect(alone.lanes.map(({ webhook }) => webhook).toSorted()).toEqual([good.id, hanging.id, quiet.id].toSorted());
  expect(alone.lanes.at(-1)).toMatchObject({ webhook: quiet.id, state: 'muted', pending: 3 });
  expect((await status('--lanes', '1')).lanes).toHaveLength(1);

  const poller = await startPollerProcess(database.url);
  await receiver.received(6);
  while ((await sql`select from deliveries where status = 'entregue'`).length < 3)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const moved = await status();
  expect(moved).toMatchObject({
    pending: 6,
    inFlight: 3,
    oldestDueS: 0,
    pollers: [{ inFlight: 3, attemptsLastMinute: 3 }],
  });
  expect(moved.falhando).toBe(0);
  // A poller that lives puts the state of a lane right.
  await poller.end('SIGKILL');
  await sql`update lanes set failing_since = now() where webhook_id = ${hanging.id}`;
  const failing = await status();
  expect(failing.falhando).toBe(1);
  expect(failing.lanes).toContainEqual(expect.objectContaining({ webhook: hanging.id, state: 'falhando' }));
  expect(moved.perSecond.delivered).toBeCloseTo(3 / 60);
  const text = (await callCommand(['queue', 'status'], env())).stdout;
  expect(text).toMatch(
    /^queue at .*\n6 pending, 3 in flight, the oldest due for 0 s; 1 webhooks muted, 1 falhando\nlast minute: /,
  );
  for (const role of ['carteiro_app', 'carteiro_poller']) {
    const login = await createLogin(database, role);
    expect((await callCommand(['queue', 'status'], env(login.url))).code).toBe(0);
    await login.remove();
  }
});

test.skipIf(terminalOpener === null)('is shown anew on a terminal until Ctrl-C, and leaves with 0', async () => {
  const terminal = openTerminal(`'${process.execPath}' src/main.ts queue status --every 1`, env());
  await terminal.until(/queue at .*[^]*Ctrl-C ends this[^]*queue at .*[^]*Ctrl-C ends this/);
  terminal.press(CTRL_C);
  expect(await terminal.ended).toBe(0);
});

test('leaves with 3 where no database answers, and with 2 when asked wrongly', async () => {
  const away = await callCommand(['queue', 'status'], env('postgres://nobody@127.0.0.1:1/none'));
  expect([away.code, away.stdout]).toEqual([3, '']);
  expect((await callCommand(['queue', 'status', '--lanes', '0'], env())).code).toBe(2);
});
