/** Partners with webhooks on a real receiver, the API over them, and an engine on the database's own clock. */
import { beforeEach } from 'vitest';
import { EMITTED_NAMES, type SubscribableName } from '../../src/contract/events.ts';
import type { DeliveryAsSent } from '../../src/contract/resources/delivery-resource.ts';
import type { ErrorBody } from '../../src/contract/errors.ts';
import type { WebhookResource } from '../../src/contract/resources/webhook.ts';
import type { Pool } from '../../src/db/pool.ts';
import type { HttpDeps } from '../../src/http/deps.ts';
import { openCredentials } from '../../src/webhooks/gateway/credentials.ts';
import { startApi, type TestApi } from './api.ts';
import { startEngine } from './engine.ts';
import { endOf } from './ends.ts';
import { commitEvent } from './outbox.ts';
import { startReceiver } from './receiver.ts';

/** As if its URL had answered 2xx: a new one gets one delivery at a time until then (queue/consent.ts). */
export const prove = (pool: Pool, webhookId: string) =>
  pool.run((sql) => sql`update webhooks set refusals = null where id = ${webhookId}`);

export interface Registered extends WebhookResource {
  readonly secret: string;
  /** Of the receiver's URL. */
  readonly path: string;
}

/** On the database's own clock, with what the API has sealed. */
export const startEngineOf = ({ database, vault }: TestApi, deps: Parameters<typeof startEngine>[1] = {}) =>
  startEngine(database.pool, {
    openSecret: (id, sealed) => vault.decrypt(id, sealed),
    openCredentials: (id, sealed) => openCredentials(vault, id, sealed),
    now: () => null,
    ...deps,
  });

export type Subscriber = Awaited<ReturnType<DeliveryWorld['subscriber']>>;

export type DeliveryWorld = Awaited<ReturnType<typeof startDeliveryWorld>>;

export async function startDeliveryWorld(overrides: Partial<HttpDeps> = {}) {
  const api = await startApi({ allowInsecure: true, ...overrides });
  const { pool } = api.database;
  const receiver = await startReceiver();
  const engine = startEngineOf(api);
  let paths = 0;

  return {
    api,
    receiver,
    engine,
    async subscriber() {
      const id = await api.partner();
      const token = await api.token(id, ['webhooks:read', 'webhooks:write']);
      /** Sends with this partner's token, which reads and writes webhooks. */
      const send = <T = ErrorBody>(method: string, to: string, body?: unknown) =>
        api.send<T>(method, to, { token, ...(body !== undefined && { body }) });
      return {
        id,
        send,
        async register(eventos: readonly SubscribableName[] = EMITTED_NAMES) {
          const path = `/${(paths += 1)}`;
          const url = `${receiver.url}${path}`;
          const { body } = await send<Registered>('POST', '/v1/webhooks', { url, eventos });
          await prove(pool, body.id);
          return { ...body, path };
        },
        /** Commits one event of a loan of its own and returns the loan's id. */
        emit: () => commitEvent(pool, id),
        read: async (deliveryId: string) => (await send<DeliveryAsSent>('GET', `/v1/entregas/${deliveryId}`)).body,
      };
    },
    /** Sends everything that is due, and waits for its record. */
    async deliver() {
      // One turn may only learn of a lane that has changed, or of what is to be read on.
      for (let idle = 0; idle < 4; idle += 1) if ((await engine.poll()) > 0) idle = 0;
    },
    postsTo: (path: string) => receiver.posts.filter((post) => post.path === path),
    close: endOf(async () => {
      // A claim that was under way is still sent, maybe to a script that hangs.
      const hangingUp = setInterval(() => receiver.closeConnections(), 20);
      await engine.close();
      clearInterval(hangingUp);
      await receiver.close();
      await api.close();
    }),
  };
}

/** A new partner with a webhook before each test, in the same two objects. */
export function useSubscriber(world: DeliveryWorld) {
  const [partner, webhook] = [{} as Subscriber, {} as Registered];
  beforeEach(async () => {
    Object.assign(partner, await world.subscriber());
    Object.assign(webhook, await partner.register());
  });
  return { partner, webhook };
}
