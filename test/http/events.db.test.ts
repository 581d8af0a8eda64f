import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startDeliveryWorld, useSubscriber } from '../support/delivery-world.ts';
import { beginAppend, type FeedPage, loansOf, readFeed, readFeedUntil } from '../support/feed.ts';
import { commitEvent } from '../support/outbox.ts';
import { FAILED_MARGIN, failedDisbursementOf, LOAN, RECEIVED_DOCUMENT } from '../support/payloads.ts';

const world = await startDeliveryWorld();
const { pool, sql } = world.api.database;
const { partner, webhook } = useSubscriber(world);

/** A transaction that has its cursor in the order already and is still open. */
async function openAppend() {
  const { promise: reported, resolve: commit } = Promise.withResolvers<void>();
  const { promise: appended, resolve: onAppended } = Promise.withResolvers<string>();
  const stream = crypto.randomUUID();
  const done = world.api.database.pool.transaction(async (tx) => {
    await tx`
      select append_event(${stream}, 0, 'desembolso.falhou', ${partner.id},
                          ${failedDisbursementOf(stream)}::text::json, 'test')`;
    onAppended(stream);
    await reported;
  });
  await appended;
  return { stream, commit: () => (commit(), done) };
}

describe('the feed', () => {
  test('gives every envelope as it was sent, with its loan, version and deliveries, in order', async () => {
    const other = await partner.register();
    const loans = [await partner.emit(), await partner.emit()];
    await world.deliver();
    const page = await readFeedUntil(partner, 2);
    expect(loansOf(page)).toEqual(loans);
    const posts = world.postsTo(webhook.path);
    expect(page.itens.map((item) => JSON.stringify(item.envelope)).toSorted()).toEqual(
      posts.map((post) => post.body.toString()).toSorted(),
    );
    const [first] = page.itens;
    expect(first).toMatchObject({ versao_emprestimo: 1, evento_id: expect.any(String) });
    const sentTo = first?.entregas.map((sent) => `${sent.webhook_id} ${sent.status}`);
    expect(sentTo?.toSorted()).toEqual([webhook.id, other.id].map((id) => `${id} entregue`).toSorted());
    const ids = new Set(posts.map((post) => post.headers['x-webhook-delivery']));
    expect(ids).toContain(first?.entregas.find((sent) => sent.webhook_id === webhook.id)?.id);
  });

  test('holds events that no webhook was sent', async () => {
    await partner.send('DELETE', `/v1/webhooks/${webhook.id}`);
    const loan = await partner.emit();
    expect((await readFeedUntil(partner, 1)).itens).toMatchObject([{ emprestimo_id: loan, entregas: [] }]);
  });

  test('goes on from its cursor for ever: page by page, then with what came since', async () => {
    const loans: string[] = [];
    for (let count = 0; count < 5; count += 1) loans.push(await partner.emit());
    await readFeedUntil(partner, 5);
    const seen: (string | null)[] = [];
    let page = await readFeed(partner, '?limite=2');
    for (; page.ha_mais; page = await readFeed(partner, `?limite=2&depois=${page.proximo_cursor}`))
      seen.push(...loansOf(page));
    seen.push(...loansOf(page));
    expect(seen).toEqual(loans);
    const idle = await readFeed(partner, `?depois=${page.proximo_cursor}`);
    expect(idle).toEqual({ itens: [], proximo_cursor: page.proximo_cursor, ha_mais: false });
    const later = await partner.emit();
    expect(loansOf(await readFeedUntil(partner, 1, `?depois=${idle.proximo_cursor}`))).toEqual([later]);
  });

  test('tells a cursor whose event the log has lost where to go on: 409 CURSOR_ADIANTE', async () => {
    const kept = await partner.emit();
    const { proximo_cursor: before } = await readFeedUntil(partner, 1);
    await partner.emit();
    const { proximo_cursor: ahead } = await readFeedUntil(partner, 2);
    await sql`delete from events where partner_id = ${partner.id} and stream <> ${kept}`;
    const since = await partner.emit();
    const refused = await partner.send('GET', `/v1/eventos?depois=${ahead}`);
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { codigo: 'CURSOR_ADIANTE', detalhes: [{ campo: 'depois', mensagem: before }] },
    ]);
    const goOn = refused.body.detalhes?.[0]?.mensagem ?? '';
    expect(loansOf(await readFeedUntil(partner, 1, `?depois=${goOn}`))).toEqual([since]);

    await sql`delete from events where partner_id = ${partner.id}`;
    const again = await partner.emit();
    const fromStart = (await partner.send('GET', `/v1/eventos?depois=${before}`)).body.detalhes?.[0]?.mensagem ?? '';
    expect(loansOf(await readFeedUntil(partner, 1, `?depois=${fromStart}`))).toEqual([again]);
  });

  test('is empty and without a cursor before the first event', async () => {
    expect(await readFeed(partner)).toEqual({ itens: [], proximo_cursor: null, ha_mais: false });
  });

  test('filters by event, over pages that may be empty', async () => {
    await partner.emit();
    await world.api.database.sql`
      select append_event(uuidv7(), 0, 'margem.falhou', ${partner.id}, ${FAILED_MARGIN}::text::json, 'test')`;
    const page = await readFeedUntil(partner, 1, '?evento=margem.falhou');
    expect(page.itens).toMatchObject([
      { emprestimo_id: null, versao_emprestimo: null, envelope: { evento: 'margem.falhou' } },
    ]);
    expect((await readFeed(partner, '?evento=repasse.processado')).itens).toEqual([]);
  });

  test('looks beyond many facts that no partner is sent for the first page', async () => {
    await world.api.database.sql`
      select append_event(${LOAN}, version, 'documento.recebido', ${partner.id}, ${RECEIVED_DOCUMENT}::text::json, 'test')
      from generate_series(0, 19) version`;
    const loan = await partner.emit();
    await readFeedUntil(partner, 1);
    expect(loansOf(await readFeed(partner, '?limite=1'))).toEqual([loan]);
  });

  test('never skips one that commits late: nothing behind an open transaction is shown before it', async () => {
    const before = await partner.emit();
    await readFeedUntil(partner, 1);
    const late = await openAppend();
    const after = await partner.emit();
    const first = await readFeed(partner);
    expect(loansOf(first)).toEqual([before]);
    await late.commit();
    const second = await readFeedUntil(partner, 2, `?depois=${first.proximo_cursor}`);
    expect(loansOf(second)).toEqual([late.stream, after]);
  });

  test('orders by transaction first: one that began before another and wrote after it comes first', async () => {
    const early = await beginAppend(world.api.database.pool, partner.id);
    const late = await partner.emit();
    await early.commit();
    expect(loansOf(await readFeedUntil(partner, 2))).toEqual([early.stream, late]);
    const first = await readFeed(partner, '?limite=1');
    expect(loansOf(first)).toEqual([early.stream]);
    expect(loansOf(await readFeed(partner, `?limite=1&depois=${first.proximo_cursor}`))).toEqual([late]);
  });

  test('meets every event once, read while writers commit out of order', async () => {
    const committed: string[] = [];
    const writing = new AbortController();
    const write = async () => {
      for (let count = 0; count < 25; count += 1) {
        const stream = crypto.randomUUID();
        await pool.transaction(async (tx) => {
          await tx`
            select append_event(${stream}, 0, 'desembolso.falhou', ${partner.id},
                                ${failedDisbursementOf(stream)}::text::json, 'test')`;
          await tx`select pg_sleep(${Math.random() / 50})`;
        });
        committed.push(stream);
      }
    };
    const seen: (string | null)[] = [];
    let cursor: string | null = null;
    const readOn = async () => {
      const page: FeedPage = await readFeed(partner, `?limite=7${cursor === null ? '' : `&depois=${cursor}`}`);
      seen.push(...loansOf(page));
      cursor = page.proximo_cursor;
      if (page.itens.length === 0) await sleep(5);
      return page.itens.length > 0 || page.ha_mais;
    };
    const reading = (async () => {
      while (!writing.signal.aborted) await readOn();
    })();
    await Promise.all(Array.from({ length: 6 }, write));
    writing.abort();
    await reading;
    while (seen.length < 150) await readOn();
    while (await readOn());
    expect(seen).toHaveLength(150);
    expect(new Set(seen)).toEqual(new Set(committed));
  });

  test("shows nothing of another partner, and takes no cursor of another's", async () => {
    const other = await world.subscriber();
    await commitEvent(world.api.database.pool, other.id);
    expect((await readFeed(partner)).itens).toEqual([]);
    const readTheirs = async () => (await other.send<FeedPage>('GET', '/v1/eventos')).body.proximo_cursor;
    let theirs = await readTheirs();
    for (; theirs === null; theirs = await readTheirs()) await sleep(10);
    const answer = await partner.send('GET', `/v1/eventos?depois=${theirs}`);
    expect([answer.status, answer.body.detalhes?.map((detail) => detail.campo)]).toEqual([400, ['depois']]);
  });

  test.each(['?evento=repasse.pago', '?evento=webhook.teste', '?limite=501', '?depois=x', '?cursor=x'])(
    'refuses %s',
    async (query) => {
      expect((await partner.send('GET', `/v1/eventos${query}`)).status).toBe(400);
    },
  );
});
