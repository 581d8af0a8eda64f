/** Builders for the delivery engine's tests: partners, webhooks and committed events, written directly to the tables. */
import { randomUUID } from 'node:crypto';
import type { SubscribableName } from '../../src/contract/events.ts';
import type { Pool, Sql } from '../../src/db/pool.ts';
import { append } from '../../src/log/append.ts';
import { FAILED_MARGIN } from './payloads.ts';

export async function insertPartner(sql: Sql, id: string | null = null): Promise<string> {
  const [row] = await sql<[{ id: string }]>`
    insert into partners (id, name) values (coalesce(${id}::uuid, uuidv7()), 'Parceiro de teste') returning id`;
  return row.id;
}

export interface TestWebhook {
  readonly id: string;
  readonly secret: string;
}

/** Registers `url`; its "encrypted" secret is the plain secret, which {@link openTestSecret} returns. */
export async function insertWebhook(
  sql: Sql,
  partnerId: string,
  url: string,
  events: readonly SubscribableName[] = ['desembolso.falhou'],
  id: string | null = null,
): Promise<TestWebhook> {
  const secret = `whsec_${randomUUID()}`;
  const [row] = await sql<[{ id: string }]>`
    insert into webhooks (id, partner_id, url, events, encrypted_secret)
    values (coalesce(${id}::uuid, uuidv7()), ${partnerId}, ${url}, ${events as string[]}, ${Buffer.from(secret)})
    returning id`;
  return { id: row.id, secret };
}

/** A partner of its own with one webhook. */
export async function insertSubscriber(
  sql: Sql,
  url = 'https://partner.example/',
  events?: readonly SubscribableName[],
): Promise<TestWebhook & { readonly partnerId: string }> {
  const partnerId = await insertPartner(sql);
  return { partnerId, ...(await insertWebhook(sql, partnerId, url, events)) };
}

export function openTestSecret(_webhookId: string, encrypted: Buffer): { secret: string; keyId: string } {
  return { secret: encrypted.toString(), keyId: 'test' };
}

/** Commits one event of a fresh stream for the partner; returns the stream's id. */
export async function commitEvent(pool: Pool, partnerId: string): Promise<string> {
  const stream = randomUUID();
  await pool.transaction((tx) =>
    append(tx, {
      stream,
      expectedVersion: 0,
      facts: [
        {
          type: 'desembolso.falhou',
          data: { emprestimo_id: stream, numero_emprestimo: '2026-00000001', motivo: 'conta encerrada' },
        },
      ],
      partnerId,
      actor: 'test',
      requestId: null,
      occurredAt: new Date('2026-01-31T12:00:00.000Z'),
    }),
  );
  return stream;
}

/** Commits `count` events in one statement, each with a delivery for every subscribed webhook of the partner. */
export async function commitEvents(sql: Sql, partnerId: string, count: number): Promise<void> {
  await sql`
    select append_event(stream, 0, 'desembolso.falhou', ${partnerId},
             json_build_object('emprestimo_id', stream, 'numero_emprestimo', '2026-00000001', 'motivo', 'conta encerrada'),
             'test')
    from (select gen_random_uuid() as stream from generate_series(1, ${count}::int)) streams`;
}

/** The same with failed margin queries, each the only event of its stream. They occurred at `occurredAt`, now by default. */
export async function commitMarginEvents(sql: Sql, partnerId: string, count: number, occurredAt?: Date): Promise<void> {
  await sql`
    select append_event(gen_random_uuid(), 0, 'margem.falhou', ${partnerId}, ${FAILED_MARGIN}::text::json, 'test', null,
                        ${occurredAt ?? null})
    from generate_series(1, ${count}::int)`;
}

/** A failed attempt of each delivery that has none: with it the log names the delivery. */
export async function insertAttempts(sql: Sql): Promise<void> {
  await sql`
    insert into attempts (delivery_id, number, event_id, webhook_id, partner_id, outcome, status_code, started_at,
                          duration_ms, url, claim, answer, body_digest)
    select d.id, 1, d.event_id, d.webhook_id, d.partner_id, 'resposta_nao_2xx', 500, now(), 1, 'https://partner.example/',
           'test', 'nope', sha256(m.salt || m.body)
    from deliveries d join messages m using (event_id)
    where not exists (select from attempts a where a.delivery_id = d.id)`;
}

/** As if the poller of this claim had claimed these deliveries, `agoS` seconds ago, and not been heard of since. */
export async function insertClaim(sql: Sql, claim: string, ids: readonly string[], agoS = 0): Promise<void> {
  await sql`insert into keepers (name, seen_at) values (poller_of(${claim}), '-infinity') on conflict do nothing`;
  await sql`
    insert into claims (poller, number, done_below, at, ids, numbers)
    select poller_of(${claim}), ${Number(claim.split(/[/.]/).at(-1))}::bigint, 0, now() - ${agoS} * interval '1 second',
           array_agg(id), array_agg(attempts + 1)
    from deliveries where id = any (${ids as string[]}::uuid[])`;
}

export interface DeliveryRow {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly failures: number;
  readonly lostInRow: number;
  readonly nextAttemptAt: Date | null;
  readonly claimedBy: string | null;
}

export async function readDeliveries(sql: Sql, webhookId: string): Promise<DeliveryRow[]> {
  return sql<DeliveryRow[]>`
    select id, status, attempts, failures, coalesce(lost_in_row, 0) as "lostInRow", next_attempt_at as "nextAttemptAt",
           (select f.poller || '/' || f.claim from flights() f where f.delivery_id = deliveries.id) as "claimedBy"
    from deliveries where webhook_id = ${webhookId} order by id`;
}

export interface AttemptRow {
  readonly number: number;
  readonly late: boolean;
  readonly outcome: string;
  readonly statusCode: number | null;
  readonly startedAt: Date;
  readonly durationMs: number | null;
}

export async function readAttempts(sql: Sql, deliveryId: string): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select number, late, outcome, status_code as "statusCode", started_at as "startedAt", duration_ms as "durationMs"
    from attempts where delivery_id = ${deliveryId} order by number, late`;
}
