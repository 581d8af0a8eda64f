import { expect, test } from 'vitest';
import type { WebhookHealthResource } from '../../src/contract/resources/webhook-health.ts';
import { countHours, countBatch } from '../../src/delivery/queue/maintenance/hour-counter.ts';
import { muteLane } from '../../src/delivery/queue/orders/lane.ts';
import { startDeliveryWorld, useSubscriber } from '../support/delivery-world.ts';
import { status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const world = await startDeliveryWorld();
const { pool, sql } = world.api.database;
const { partner, webhook } = useSubscriber(world);

const NO_FAILURE = {
  resposta_nao_2xx: 0,
  tempo_esgotado: 0,
  erro_conexao: 0,
  erro_tls: 0,
  destino_recusado: 0,
  desconhecido: 0,
};

async function readHealth(id = webhook.id) {
  await untilSettled(sql);
  await countHours(pool);
  return (await partner.send<WebhookHealthResource>('GET', `/v1/webhooks/${id}/saude`)).body;
}

/** Attempts of a delivery of this webhook as they would have been recorded so many hours ago. */
async function insertAttempts(
  hoursAgo: number,
  attempts: readonly { outcome: string; statusCode: number | null; ms: number }[],
) {
  for (const { outcome, statusCode, ms } of attempts) {
    await sql`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url,
                            claim, recorded_at)
      values (uuidv7(), 1, ${webhook.id}, ${partner.id}, ${outcome}, ${statusCode}, now(), ${ms}, 'https://partner.example/',
              'p/1', now() - ${hoursAgo} * interval '1 hour')`;
  }
}

test('a new webhook is active, and nothing is told of it yet', async () => {
  expect(await readHealth()).toMatchObject({
    webhook_id: webhook.id,
    estado: 'ativa',
    pendente_mais_antiga: null,
    ultimas_24h: { entregues: 0, falhas: NO_FAILURE, p50_ms: null, p95_ms: null },
    ultimos_7d: { entregues: 0, falhas: NO_FAILURE, p50_ms: null, p95_ms: null },
  });
});

test('each attempt is counted once, by its outcome, in the periods that it lies in', async () => {
  const answered = (ms: number) => ({ outcome: 'entregue', statusCode: 200, ms });
  await insertAttempts(2, [answered(10), answered(20), { outcome: 'resposta_nao_2xx', statusCode: 503, ms: 400 }]);
  await readHealth();
  await insertAttempts(30, [answered(100), { outcome: 'tempo_esgotado', statusCode: null, ms: 30_000 }]);
  await insertAttempts(24 * 8 + 2, [answered(7)]);
  const health = await readHealth();
  expect(health.ultimas_24h).toMatchObject({ entregues: 2, falhas: { ...NO_FAILURE, resposta_nao_2xx: 1 } });
  expect(health.ultimos_7d).toMatchObject({
    entregues: 3,
    falhas: { ...NO_FAILURE, resposta_nao_2xx: 1, tempo_esgotado: 1 },
  });
  expect(await readHealth()).toMatchObject({ ultimos_7d: health.ultimos_7d });
  // Of 10, 20 and 400 ms, and of 10, 20, 100 and 400; told at most a tenth above.
  expect(Math.abs((health.ultimas_24h.p50_ms ?? 0) / 20 - 1)).toBeLessThanOrEqual(0.1);
  expect(Math.abs((health.ultimas_24h.p95_ms ?? 0) / 400 - 1)).toBeLessThanOrEqual(0.1);
  expect(Math.abs((health.ultimos_7d.p50_ms ?? 0) / 20 - 1)).toBeLessThanOrEqual(0.1);
  expect(health.contada_em).not.toBeNull();
});

test('the hours of a day that is over for 25 hours are one row, and an attempt that comes late is added to it', async () => {
  const rows = () => sql<{ hour: Date; attempts: number }[]>`
    select hour, sum(attempts)::int as attempts from attempt_hours
    where webhook_id = ${webhook.id} and hour < date_trunc('day', now() - interval '25 hours', 'America/Sao_Paulo')
      and hour > now() - interval '5 days'
    group by hour order by hour`;
  const [{ hoursAgo, day }] = await sql<[{ hoursAgo: number; day: Date }]>`
    select (extract(epoch from now() - start) / 3600)::float8 as "hoursAgo", start - interval '1 day' as day
    from (select date_trunc('day', now() - interval '25 hours', 'America/Sao_Paulo') as start) hourly`;
  const kept = (await rows()).reduce((sum, { attempts }) => sum + attempts, 0);
  const week = (await readHealth()).ultimos_7d.entregues;
  const one = [{ outcome: 'entregue', statusCode: 200, ms: 10 }];
  for (const hours of [3, 5]) await insertAttempts(hoursAgo + hours, one);
  expect((await readHealth()).ultimos_7d.entregues).toBe(week + 2);
  expect(await rows()).toEqual([{ hour: day, attempts: kept + 2 }]);
  await insertAttempts(hoursAgo + 4, one);
  expect((await readHealth()).ultimos_7d.entregues).toBe(week + 3);
  expect(await rows()).toEqual([{ hour: day, attempts: kept + 3 }]);
  // As after a time in which nobody counted.
  for (const hours of [27, 29]) await insertAttempts(hoursAgo + hours, one);
  expect((await readHealth()).ultimos_7d.entregues).toBe(week + 5);
  expect((await rows()).map(({ attempts }) => attempts)).toEqual([2, kept + 3]);
});

test('the pending delivery that was made first is shown, with its next attempt', async () => {
  world.receiver.answerWith(status(503), webhook.path);
  await partner.emit();
  await world.deliver();
  const { itens } = (
    await partner.send<{ itens: { id: string; criada_em: string; proxima_tentativa_em: string }[] }>(
      'GET',
      '/v1/entregas',
    )
  ).body;
  const [first] = itens;
  await partner.emit();
  const health = await readHealth();
  expect(health.pendente_mais_antiga).toEqual({
    id: first?.id,
    criada_em: first?.criada_em,
    proxima_tentativa_em: first?.proxima_tentativa_em,
  });
  expect(health.ultimas_24h.falhas.resposta_nao_2xx).toBe(1);
});

test('a muted webhook and a deactivated one are told apart from an active one', async () => {
  await world.api.database.pool.transaction((tx) => muteLane(tx, webhook.id));
  expect((await readHealth()).estado).toBe('silenciada');
  await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
  expect((await readHealth()).estado).toBe('inativa');
});

test('a webhook that the policy calls failing, and one that it suspended, are told apart until the partner reactivates it', async () => {
  const change = (what: string) => sql`select change_failing(${webhook.id}, ${what}, now(), 'teste')`;
  await sql`
    insert into failing_runs (webhook_id, partner_id, failures, first_failed_at, last_failed_at, last_outcome)
    select id, partner_id, 1, now(), now(), 'erro_conexao' from webhooks where id = ${webhook.id}`;
  await change('falhando');
  expect((await readHealth()).estado).toBe('falhando');
  await change('suspensao');
  expect((await readHealth()).estado).toBe('suspensa');
  await partner.send('PATCH', `/v1/webhooks/${webhook.id}`, { ativo: true });
  expect((await readHealth()).estado).toBe('ativa');
  await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
  expect((await readHealth()).estado).toBe('inativa');
});

test('an attempt of a transaction that is still open is counted when it has committed, and no attempt twice', async () => {
  const { promise: reported, resolve: commit } = Promise.withResolvers<void>();
  const { promise: written, resolve: onWritten } = Promise.withResolvers<void>();
  const done = pool.transaction(async (tx) => {
    await tx`
      insert into attempts (delivery_id, number, webhook_id, partner_id, outcome, status_code, started_at, duration_ms, url, claim)
      values (uuidv7(), 1, ${webhook.id}, ${partner.id}, 'entregue', 200, now(), 5, 'https://partner.example/', 'p/1')`;
    onWritten();
    await reported;
  });
  await written;
  await insertAttempts(0, [{ outcome: 'entregue', statusCode: 200, ms: 5 }]);
  await countHours(pool);
  const readCounted = async () =>
    (await partner.send<WebhookHealthResource>('GET', `/v1/webhooks/${webhook.id}/saude`)).body.ultimas_24h.entregues;
  expect(await readCounted()).toBe(0);
  commit();
  await done;
  expect((await readHealth()).ultimas_24h.entregues).toBe(2);
});

test('two pollers that count at the same time count each attempt once', async () => {
  await insertAttempts(
    0,
    Array.from({ length: 20 }, () => ({ outcome: 'entregue', statusCode: 200, ms: 5 })),
  );
  await untilSettled(sql);
  await Promise.all(Array.from({ length: 4 }, () => pool.transaction((tx) => countBatch(tx))));
  expect((await readHealth()).ultimas_24h.entregues).toBe(20);
});

test('attempts that are too many for one turn within the server’s deadline are counted in smaller turns', async () => {
  // As the deadline does on a busy server: each turn with more than 15 attempts is cancelled.
  await sql.unsafe(`
    create function carteiro.cancel_large() returns trigger language plpgsql as $$
    begin
      if (select sum(attempts) from fresh) > 15 then raise sqlstate '57014'; end if;
      return null;
    end $$;
    create trigger cancel_large after insert on attempt_hours referencing new table as fresh
      for each statement execute function carteiro.cancel_large()`);
  await insertAttempts(
    1,
    Array.from({ length: 40 }, () => ({ outcome: 'entregue', statusCode: 200, ms: 10 })),
  );
  expect((await readHealth()).ultimas_24h.entregues).toBe(40);
  await sql.unsafe('drop function carteiro.cancel_large() cascade');
});
