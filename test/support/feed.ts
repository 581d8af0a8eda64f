/** The feed as a partner reads it, and an event whose transaction is open for as long as a test wants. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorBody } from '../../src/contract/errors.ts';
import type { FeedItem } from '../../src/contract/resources/delivery-resource.ts';
import type { Pool } from '../../src/db/pool.ts';
import type { Subscriber } from './delivery-world.ts';
import { failedDisbursementOf } from './payloads.ts';

export interface FeedPage {
  readonly itens: readonly FeedItem[];
  readonly proximo_cursor: string | null;
  readonly ha_mais: boolean;
}

export async function readFeed(partner: Subscriber, query = ''): Promise<FeedPage & ErrorBody> {
  return (await partner.send<FeedPage & ErrorBody>('GET', `/v1/eventos${query}`)).body;
}

/** Reads until the page is as long as it must become: other transactions on the same server hold the end back. */
export async function readFeedUntil(partner: Subscriber, count: number, query = ''): Promise<FeedPage> {
  for (;;) {
    const page = await readFeed(partner, query);
    if (page.itens.length >= count) return page;
    await sleep(10);
  }
}

export const loansOf = (page: FeedPage) => page.itens.map((item) => item.emprestimo_id);

/** A transaction that has its place in the order already, and appends when it is told to. */
export async function beginAppend(pool: Pool, partnerId: string) {
  const { promise: reported, resolve: write } = Promise.withResolvers<void>();
  const { promise: begun, resolve: onBegun } = Promise.withResolvers<void>();
  const stream = crypto.randomUUID();
  const done = pool.transaction(async (tx) => {
    await tx`select pg_current_xact_id()`;
    onBegun();
    await reported;
    await tx`
      select append_event(${stream}, 0, 'desembolso.falhou', ${partnerId},
                          ${failedDisbursementOf(stream)}::text::json, 'test')`;
  });
  await begun;
  return { stream, commit: () => (write(), done) };
}
