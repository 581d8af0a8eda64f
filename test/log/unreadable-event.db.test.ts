/** Events that `append_event` would have refused and that are in the log all the same, as only a superuser can plant them. */
import { describe, expect, test } from 'vitest';
import { sealAll } from '../../src/audit/seals/sealer.ts';
import { verifySeals } from '../../src/audit/seals/verify.ts';
import { projectBatch } from '../../src/core/projection/projector.ts';
import { rebuildLoans } from '../../src/core/projection/rebuild.ts';
import { closeSettlement } from '../../src/core/settlement/settlement.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { disbursedLoan } from '../core/disbursed-loans.ts';
import { startDeliveryWorld } from '../support/delivery-world.ts';
import { startEngine } from '../support/engine.ts';
import { type FeedPage, readFeed } from '../support/feed.ts';
import { untilSettled } from '../support/settled.ts';
import { silentLog } from '../support/silent-log.ts';

const PLANTS = {
  'a time without end': { occurredAt: 'infinity', more: '' },
  'a time after all years of four digits': { occurredAt: '10000-01-01T00:00Z', more: '' },
  'a payload of 20 MB': { occurredAt: 'now', more: `,"anexo":"${'x'.repeat(20_000_000)}"` },
  'a number without end': { occurredAt: 'now', more: ',"valor":1e400' },
  'a number without end, written out': { occurredAt: 'now', more: `,"valor":[-1${'0'.repeat(400)}.5]` },
};
const metrics = createMetrics();

const world = await startDeliveryWorld();
const { pool, sql } = world.api.database;
const openSecret = (id: string, sealed: Buffer) => world.api.vault.decrypt(id, sealed);
const engine = startEngine(pool, { openSecret, now: () => null, metrics });
const partner = await world.subscriber();
const webhook = await partner.register();

/** An event behind the loan's last one, with its delivery, past all that checks it. */
async function plant(stream: string, { occurredAt, more }: { occurredAt: string; more: string }) {
  const data = `{"emprestimo_id":"${stream}","numero_emprestimo":"2026-00000001","motivo":"x"${more}}`;
  const [{ id }] = await sql<[{ id: string }]>`
    insert into events (stream, version, type, partner_id, data, occurred_at, actor, fan_out, is_of_loan, seen)
    select ${stream}, max(version) + 1, 'desembolso.falhou', ${partner.id}, ${data}::text::json,
           ${occurredAt}::text::timestamptz, 'superuser', 1, true, pg_current_snapshot()
    from events where stream = ${stream}
    returning id`;
  const [delivery] = await sql<[{ id: string }]>`
    insert into deliveries (event_id, webhook_id, partner_id, next_attempt_at)
    values (${id}, ${webhook.id}, ${partner.id}, now()) returning id`;
  await sql`
    insert into pending (webhook_id, delivery_id, event_id, partner_id)
    values (${webhook.id}, ${delivery.id}, ${id}, ${partner.id})`;
  return { eventId: id, deliveryId: delivery.id };
}

async function wholeFeed(): Promise<FeedPage['itens']> {
  await untilSettled(world.api.database.sql);
  const itens = [];
  let page = await readFeed(partner, '?limite=2');
  for (itens.push(...page.itens); page.ha_mais; itens.push(...page.itens)) {
    page = await readFeed(partner, `?limite=2&depois=${page.proximo_cursor}`);
  }
  return itens;
}

describe.each(Object.entries(PLANTS))('%s', (_name, bad) => {
  test('ends the deliveries of its own event with a reason, and stops nothing else', async () => {
    const provenance = { partnerId: partner.id, actor: 'test', requestId: null };
    const loan = await disbursedLoan(pool, provenance, '2026-01-31');
    const { eventId, deliveryId } = await plant(loan.id, bad);
    const next = await partner.emit();

    while ((await engine.poll()) > 0);
    expect(await partner.read(deliveryId)).toMatchObject({ status: 'erro', tentativas: [] });
    expect(await sql`select kind, actor, reason from send_orders where ${deliveryId} = any (delivery_ids)`).toEqual([
      { kind: 'cancelamento', actor: 'servico', reason: expect.stringContaining(eventId) },
    ]);
    expect(world.postsTo(webhook.path).map(({ body }) => JSON.parse(String(body)).data.emprestimo_id)).toContain(next);
    expect((await metrics.expose()).text).toMatch(/^carteiro_unreadable_deliveries_total [1-9]/m);

    const itens = await wholeFeed();
    expect(itens.find((item) => item.evento_id === eventId)).toEqual({
      evento_id: eventId,
      emprestimo_id: loan.id,
      versao_emprestimo: expect.any(Number),
      entregas: [{ id: deliveryId, webhook_id: webhook.id, status: 'erro' }],
      ilegivel: true,
    });
    expect(itens.at(-1)).toMatchObject({ emprestimo_id: next });
    expect((await partner.send('GET', `/v1/eventos/${eventId}`)).body).toMatchObject({ ilegivel: true });

    const token = await world.api.token(partner.id, ['emprestimos:read']);
    const read = () => world.api.send('GET', `/v1/emprestimos/${loan.id}`, { token });
    expect(await read()).toMatchObject({ status: 200, body: { status: 'desembolsada' } });
    while ((await projectBatch({ pool, log: silentLog })).more);
    expect(await read()).toMatchObject({ status: 200, body: { status: 'desembolsada' } });
    expect(await rebuildLoans(pool, silentLog, { repair: true })).toMatchObject({ differences: [] });

    await sealAll(pool);
    expect(await verifySeals(pool)).toMatchObject({ findings: [] });
    expect(
      await sql`select octet_length(corpo) < 2000 as ok from carteiro_auditoria.mensagens where evento_id = ${eventId}`,
    ).toEqual([{ ok: true }]);
  });
});

test('the month of the partner is closed, with the installments of the loans that hold such events', async () => {
  const provenance = { partnerId: partner.id, actor: 'test', requestId: null };
  const closed = await closeSettlement(
    world.api.database.pool,
    provenance,
    '2026-02',
    new Date('2026-03-02T12:00:00Z'),
  );
  expect(closed).toMatchObject({ ok: { settlement: { total_parcelas: Object.keys(PLANTS).length } } });
});
