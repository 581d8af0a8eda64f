/** The names that a partner knows its webhooks by: their labels, else host and path. */
import type { ListedWebhook } from '../../contract/resources/webhook.ts';
import type { Visit } from '../env.ts';
import { shortUrl } from '../frame/parts.ts';

/** The most that are read; of others the page shows the end of the id. */
const READ = '200';

export function nameOf({ url, saude }: Pick<ListedWebhook, 'url' | 'saude'>): string {
  return saude?.rotulo ?? shortUrl(url);
}

/** By id, of those that are inactive too. */
export async function readNames({
  api,
  session,
}: Pick<Visit, 'api' | 'session'>): Promise<ReadonlyMap<string, string>> {
  if (!session.identity.scopes.has('webhooks:read')) return new Map();
  const asked = { ativo: 'todos', limite: READ, incluir: 'saude' };
  const webhooks = await api.read<ListedWebhook[]>('/v1/webhooks', asked);
  return new Map(webhooks.map((webhook) => [webhook.id, nameOf(webhook)]));
}
