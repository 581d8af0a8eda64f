/** The engine under test: the command `poll`, started as an operator starts it. */
import { createVault } from '../../src/webhooks/secrets.ts';
import { migrate } from '../../src/db/migrations/migrate.ts';
import type { Sql } from '../../src/db/pool.ts';
import { silentLog } from '../support/silent-log.ts';
import { type PollerProcess, startPollerProcess } from '../support/poller-process.ts';
import type { Contender } from './contender.ts';
import { EVENT, secretOf, dataOf, pathsOf } from './workload.ts';

const KEY = Buffer.alloc(32, 9);
const vault = createVault([KEY]);
/** Every transaction of the seed appends this many events. */
const EVENTS_A_COMMIT = 1_000;

export interface BenchWebhook {
  readonly id: string;
  readonly partnerId: string;
  readonly path: string;
}

/** Registers webhooks, of so many partners in turn: by default each of one of its own, so that one event is one delivery. */
export async function insertWebhooks(
  sql: Sql,
  receiverUrl: string,
  paths: readonly string[],
  partners = paths.length,
): Promise<BenchWebhook[]> {
  const rows = await sql<{ id: string }[]>`
    insert into partners (name) select 'Parceiro ' || n from generate_series(1, ${partners}::int) n returning id`;
  const ids = await sql<{ id: string }[]>`select uuidv7() as id from generate_series(1, ${paths.length}::int)`;
  const webhooks = paths.map((path, index) => ({
    id: ids[index]?.id ?? '',
    partnerId: rows[index % partners]?.id ?? '',
    path,
  }));
  await sql`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    select id, partner, url, ${[EVENT]}::text[], decode(sealed, 'hex')
    from unnest(${webhooks.map((webhook) => webhook.id)}::uuid[], ${webhooks.map((webhook) => webhook.partnerId)}::uuid[],
                ${webhooks.map((webhook) => receiverUrl + webhook.path)}::text[],
                ${webhooks.map((webhook) => vault.encrypt(webhook.id, secretOf(webhook.path)).toString('hex'))}::text[])
      as w (id, partner, url, sealed)`;
  return webhooks;
}

/** Appends one event, whose body carries `id`. */
export async function append(sql: Sql, id: string, partnerId: string): Promise<void> {
  await sql`select append_event(${id}, 0, ${EVENT}, ${partnerId}, ${dataOf(id)}::text::json, 'bench')`;
}

/** The partner of each webhook. */
export async function partnersOf(sql: Sql): Promise<string[]> {
  return (await sql<{ partner: string }[]>`select partner_id as partner from webhooks`).map(({ partner }) => partner);
}

/** Appends an event for the partners in turn. */
export const appendFor =
  (partners: readonly string[]) =>
  (sql: Sql, id: string, index: number): Promise<void> =>
    append(sql, id, partners[index % partners.length] ?? '');

/** Appends `count` events, the partners in turn, in commits of 1,000. */
export async function appendEvents(sql: Sql, partnerIds: readonly string[], count: number): Promise<void> {
  for (let done = 0; done < count; done += EVENTS_A_COMMIT) {
    await sql`
      select append_event(stream, 0, ${EVENT}, partner,
               json_build_object('emprestimo_id', stream, 'numero_emprestimo', '2026-00000001', 'motivo', 'conta encerrada'),
               'bench')
      from (select gen_random_uuid() as stream,
                   (${partnerIds as string[]}::uuid[])[1 + (${done}::int + n) % ${partnerIds.length}::int] as partner
            from generate_series(0, ${Math.min(EVENTS_A_COMMIT, count - done) - 1}::int) n) streams`;
  }
}

/** Creates `database` with the product's tables. */
export async function createDatabase(server: Parameters<Contender['seed']>[0], database: string): Promise<string> {
  const url = await server.create(database);
  await migrate(url, silentLog);
  return url;
}

const living = new Set<PollerProcess>();

/** Kills the pollers that are still running; for the way out of a run that failed. */
export async function killPollers(): Promise<void> {
  await Promise.all([...living].map((poller) => poller.end('SIGKILL')));
}

/** Starts a poller, or another checkout's `main`; `env` adds to its environment. */
export async function startPoller(
  databaseUrl: string,
  env: Record<string, string> = {},
  main?: string,
): Promise<PollerProcess> {
  const poller = await startPollerProcess(databaseUrl, { SECRETS_KEY: KEY.toString('base64'), ...env }, [], main);
  living.add(poller);
  return {
    ...poller,
    async end(signal) {
      const code = await poller.end(signal);
      living.delete(poller);
      return code;
    },
  };
}

export const carteiro: Contender = {
  id: 'carteiro',
  label: 'Carteiro',
  async seed(server, database, receiverUrl, count, webhooks) {
    await createDatabase(server, database);
    await server.on(database, async (sql) => {
      const registered = await insertWebhooks(sql, receiverUrl, pathsOf(webhooks));
      await appendEvents(
        sql,
        registered.map((webhook) => webhook.partnerId),
        count,
      );
      await sql`vacuum (analyze)`;
    });
  },
  async start(databaseUrl) {
    const poller = await startPoller(databaseUrl);
    return {
      pid: poller.pid,
      go: async () => undefined,
      async stop() {
        const code = await poller.end('SIGTERM');
        if (code !== 0) throw new Error(`the poller left with code ${code}: ${poller.lines.join('\n')}`);
      },
    };
  },
  async done(sql) {
    const [row] = await sql<[{ count: number }]>`
      select count(*)::int as count
      from deliveries d join attempts a on a.delivery_id = d.id and a.outcome = d.status
      where d.status = 'entregue'`;
    return row.count;
  },
};
