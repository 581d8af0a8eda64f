/** Bare undici's process: bodies made beforehand, each connection busy all the time. */
import { randomUUID } from 'node:crypto';
import type { PeerArguments } from '../contender.ts';
import { offerCalls } from '../harness/child.ts';
import { bodyOf, pathOf, secretOf } from '../workload.ts';
import { createPoster } from './post.ts';

export type BareSettings = Readonly<Record<'connections' | 'count' | 'webhooks', number>>;

/** Serves until the parent ends it. */
export function run({ receiverUrl, settings }: PeerArguments<BareSettings>): void {
  const { connections, count, webhooks } = settings;
  const poster = createPoster(receiverUrl, connections);
  const ids = Array.from({ length: count }, () => randomUUID());
  const bodies = ids.map((id) => Buffer.from(bodyOf(id)));
  const paths = Array.from({ length: webhooks }, (_, index) => pathOf(index));
  const secrets = paths.map((path) => secretOf(path));
  let next = 0;
  let senders: Promise<void>[] = [];

  async function send(): Promise<void> {
    for (let index = next++; index < count; index = next++) {
      const [path = '', secret = ''] = [paths[index % webhooks], secrets[index % webhooks]];
      await poster.post(path, secret, ids[index] ?? '', bodies[index] ?? '');
    }
  }

  offerCalls({
    go() {
      senders = Array.from({ length: connections }, () => send());
    },
    async stop() {
      next = count;
      await Promise.all(senders);
      await poster.close();
    },
  });
}
