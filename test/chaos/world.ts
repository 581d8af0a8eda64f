/** The database of a fault run: partners, endpoints, and triggers that note independently of the engine what it did. */
import { migrate } from '../../src/db/migrations/migrate.ts';
import { Pool, type Tx } from '../../src/db/pool.ts';
import { isUnavailable } from '../../src/db/unavailable.ts';
import { insertPartner } from '../support/outbox.ts';
import { insertEncryptedWebhook } from '../support/poller-process.ts';
import { silentLog } from '../support/silent-log.ts';

export interface World {
  readonly pool: Pool;
  /** Partners whose every event goes to {@link FAN_OUT} endpoints. */
  readonly partners: readonly string[];
  /** Each with one endpoint that always refuses or always hangs. */
  readonly refusing: string;
  readonly hanging: string;
}

export const FAN_OUT = 5;
const PARTNERS = 12;

/** Every claim with the time it had to wait for, and every time that a failure set. */
async function addWitnesses(sql: Tx): Promise<void> {
  await sql`create table chaos_claims (
    delivery_id uuid, number int, due timestamptz, at timestamptz, claim text, seen timestamptz default clock_timestamp())`;
  await sql`create index on chaos_claims (delivery_id)`;
  await sql`create table chaos_slots (
    delivery_id uuid, number int, failures int, is_booked boolean, next timestamptz, at timestamptz)`;
  await sql`
    create function chaos_claim_witness() returns trigger language plpgsql security definer set search_path from current as $$
    begin
      insert into chaos_claims
      select d.id, each.number, d.next_attempt_at, new.at, new.poller || '/' || new.number
      from unnest(new.ids, new.numbers) as each (id, number) join deliveries d using (id)
      -- A renewal puts claims back as they were.
      where not exists (select from chaos_claims c where (c.delivery_id, c.claim) = (id, new.poller || '/' || new.number));
      return null;
    end $$`;
  await sql`
    create trigger chaos_witness after insert on claims for each row execute function chaos_claim_witness()`;
  await sql`
    create function chaos_slot_witness() returns trigger language plpgsql as $$
    begin
      insert into chaos_slots
      values (old.id, new.attempts, new.failures,
              exists (select from attempts a where a.delivery_id = old.id and a.number = new.attempts
                        and not a.late and a.outcome = 'desconhecido'),
              new.next_attempt_at, now());
      return null;
    end $$`;
  await sql`
    create trigger chaos_witness after update on deliveries for each row
    when (new.failures > old.failures) execute function chaos_slot_witness()`;
}

/** `renew` takes a queue for large from its second page on. */
async function renewSmallQueues(sql: Tx): Promise<void> {
  const [{ usual }] = await sql<[{ usual: string }]>`select pg_get_functiondef('renew'::regproc) as usual`;
  const hasty = usual.replace('pages < 256', 'pages < 2').replace('4 * pages', '1000 * pages');
  await sql.unsafe(hasty);
}

/** Makes the queues small anew; true for each that was. */
export const renewQueues = (pool: Pool) =>
  pool.run(
    (sql) => sql<{ done: boolean }[]>`select renew(queue) as done from unnest('{pending,claims}'::text[]) queue`,
  );

async function addPartner(sql: Tx, urls: readonly string[]): Promise<string> {
  const partnerId = await insertPartner(sql as never);
  for (const url of urls) await insertEncryptedWebhook(sql as never, partnerId, url);
  return partnerId;
}

/** Migrates the database and fills it. Of the endpoints every other one is flaky. */
export async function makeWorld(databaseUrl: string, receiverPort: number): Promise<World> {
  await migrate(databaseUrl, silentLog);
  const pool = new Pool({ url: databaseUrl, name: 'chaos', max: 6, deadlineMs: 10_000 });
  const at = (path: string): string => `http://127.0.0.1:${receiverPort}${path}`;
  return pool.run(async (sql) => {
    await addWitnesses(sql);
    await renewSmallQueues(sql);
    const partners: string[] = [];
    for (let partner = 0; partner < PARTNERS; partner += 1) {
      const kinds = Array.from({ length: FAN_OUT }, (_, index) => (index % 2 === 0 ? 'flaky' : 'healthy'));
      partners.push(
        await addPartner(
          sql,
          kinds.map((kind, index) => at(`/${kind}/${partner}-${index}`)),
        ),
      );
    }
    return {
      pool,
      partners,
      refusing: await addPartner(sql, [at('/dead')]),
      hanging: await addPartner(sql, [at('/silent')]),
    };
  });
}

/** Runs work on the database again until the database is there. For work that may be done twice. */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const code = String((error as { code?: unknown }).code);
      if (!isUnavailable(error) && !['40P01', '57014'].includes(code)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
