/** A recovery to an earlier moment under living processes, as an operator makes it, and what the auditors' commands say then. */
import { join } from 'node:path';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../src/db/migrations/migrate.ts';
import { backUp, finishArchive, recover, startCluster } from '../support/clusters.ts';
import { callCommand, sandboxOn, startServing } from '../support/command.ts';
import { commitEvents, insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook } from '../support/poller-process.ts';
import { startReceiver } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';
import { silentLog } from '../support/silent-log.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

interface Verdict {
  readonly confere: boolean;
  readonly cabeca: string;
  readonly achados: readonly { readonly tipo: string; readonly linha: string; readonly detalhe: string }[];
}

function open(url: string) {
  const sql = postgres(url, { max: 2, onnotice: () => undefined, connection: { search_path: 'carteiro' } });
  onTestFinished(() => sql.end({ timeout: 1 }));
  return sql;
}

test('living processes go on after it, the log is whole without a command, and a head from before names the row at which they part', async () => {
  const receiver = await startReceiver();
  const source = await startCluster();
  await migrate(source.url, silentLog);
  const here = open(source.url);
  const partnerId = await insertPartner(here);
  const { id: webhookId } = await insertEncryptedWebhook(here, partnerId, `${receiver.url}/hook`);
  const { proxy, url } = await TcpProxy.to(source.url);
  const environment = sandboxOn(url, { DATA_DIR: join(source.folder.path, 'carteiro') });
  const run = (...args: string[]) => callCommand(args, environment);
  const verify = async (...args: string[]) => {
    const { code, stdout } = await run('audit', 'verify', ...args);
    return { code, verdict: JSON.parse(stdout) as Verdict };
  };
  const deliver = async (sql: typeof here, count: number) => {
    await commitEvents(sql, partnerId, count);
    for (;;) {
      const [{ left }] = await sql<[{ left: number }]>`
        select count(*)::int as left from deliveries where status = 'pendente'`;
      if (left === 0) break;
    }
    await untilSettled(sql);
    expect((await run('audit', 'seal')).code).toBe(0);
    const { cabeca } = (await verify()).verdict;
    // The command signs what it seals.
    expect((await run('audit', 'head')).stdout.split(' ')[1]).toBe(cabeca.split(':')[0]);
    return cabeca;
  };

  const [api, poller] = await Promise.all([startServing('api', environment), startServing('poll', environment)]);
  const first = await deliver(here, 10);
  const backup = await backUp(source);
  const second = await deliver(here, 10);
  await here`select pg_create_restore_point('the moment')`;
  const lost = await deliver(here, 10);
  await finishArchive(source);
  await here.end({ timeout: 0 });
  await source.stop('immediate');
  const recovered = await recover(source, backup, 'the moment');
  proxy.redirect(recovered.url);
  const there = open(recovered.url);
  for (let isDone = false; !isDone;) [{ isDone }] = await there`select not pg_is_in_recovery() as "isDone"`;

  await poller.log(/a new epoch begins/);
  const newest = await deliver(there, 12);
  for (const head of [null, first, second, newest]) {
    const { code, verdict } = await verify(...(head === null ? [] : ['--head', head]));
    expect([head, code, verdict.achados]).toEqual([head, 0, []]);
  }
  // Without any checkpoint nothing is known to be common. One of the new epoch is behind the row at which they part, whatever the
  // lost log had.
  const [size = ''] = newest.split(':');
  while ((await there`select from checkpoints where size >= ${size}`).length === 0) await there`select pg_sleep(0.05)`;
  const { code, verdict } = await verify('--head', lost);
  expect([code, verdict.confere]).toEqual([1, false]);
  const [{ row }] = await there<[{ row: string }]>`
    select id || '/' || position as row from events where epoch = 2 order by tx, position limit 1`;
  expect(verdict.achados).toMatchObject([{ tipo: 'ramificacao', tabela: 'events', linha: row }]);
  for (const head of [lost, newest]) expect(verdict.achados[0]?.detalhe).toContain(head);
  expect((await verify('--head', `${Number(size) + 1}:${'ab'.repeat(32)}`)).verdict.achados).toMatchObject([
    { tipo: 'ramificacao', tabela: 'events', linha: row },
  ]);
  // The log's own head of the same size was signed, and is not common to both.
  const [beside] = (await verify('--head', `${size}:${'ab'.repeat(32)}`)).verdict.achados;
  expect([beside?.linha, beside?.detalhe]).toEqual([row, expect.stringContaining(`Both grew out of ${second}.`)]);

  expect(await there`select status, count(*)::int from deliveries where webhook_id = ${webhookId} group by 1`).toEqual([
    { status: 'entregue', count: 32 },
  ]);
  for (const running of [api, poller]) expect((await running.end('SIGTERM')).code).toBe(0);
});
