/** By the sandbox's clock alone a partner sees `falhando`, `atraso` and `erro`, and no due time before what has happened. */
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { detectFailing } from '../../src/delivery/queue/maintenance/failing.ts';
import { openAlerts } from '../../src/main/maintenance/alerts.ts';
import { startDeliveryWorld } from '../support/delivery-world.ts';
import { status } from '../support/receiver.ts';
import { silentLog } from '../support/silent-log.ts';

const SIX_HOURS_S = 21_600;
const world = await startDeliveryWorld();
const { pool } = world.api.database;
const config = readConfig({});
if (config.failingPolicy === null) throw new Error('the policy is on by default');
const policy = config.failingPolicy;
const alerts = await openAlerts(config, silentLog);

interface Due {
  readonly criada_em: string;
  readonly proxima_tentativa_em: string | null;
}

/** Whatever has both times, at any depth of an answer. */
function duesIn(answer: unknown): readonly Due[] {
  if (typeof answer !== 'object' || answer === null) return [];
  const inside = Object.values(answer).flatMap(duesIn);
  return 'proxima_tentativa_em' in answer && 'criada_em' in answer ? [answer as Due, ...inside] : inside;
}

test('each state is reached', async () => {
  const partner = await world.subscriber();
  const token = await world.api.token(partner.id, ['sandbox']);
  const url = `${world.receiver.url}/fails`;
  // As a newcomer's: its URL has never answered 2xx.
  const { body: made } = await partner.send<{ id: string }>('POST', '/v1/webhooks', {
    url,
    eventos: ['desembolso.falhou'],
  });
  const listener = await partner.register(['webhook.falhando', 'webhook.atraso', 'webhook.erro']);
  world.receiver.answerWith(status(500), '/fails');
  await detectFailing(pool, policy, { restS: 0 });
  await partner.emit();
  await partner.emit();
  let shown = 0;
  for (let failures = 1; failures <= 6; failures += 1) {
    await world.deliver();
    await detectFailing(pool, policy, { restS: 0 });
    await alerts.poll(pool);
    await world.api.send('POST', '/v1/sandbox/tempo', { token, body: { avancar_segundos: SIX_HOURS_S } });
    const { body: list } = await partner.send<{ itens: { id: string; evento_id: string }[] }>(
      'GET',
      `/v1/webhooks/${made.id}/entregas`,
    );
    const paths = [
      '/v1/entregas',
      `/v1/webhooks/${made.id}/saude`,
      ...list.itens.flatMap(({ id, evento_id }) => [`/v1/entregas/${id}`, `/v1/eventos/${evento_id}`]),
    ];
    for (const path of paths) {
      for (const { criada_em, proxima_tentativa_em } of duesIn((await partner.send<object>('GET', path)).body)) {
        if (proxima_tentativa_em === null) continue;
        expect([path, proxima_tentativa_em >= criada_em]).toEqual([path, true]);
        shown += 1;
      }
    }
    for (const { id } of list.itens) {
      const { tentativas, proxima_tentativa_em, tentativas_previstas } = await partner.read(id);
      const last =
        tentativas
          .map(({ inicio }) => inicio)
          .toSorted()
          .at(-1) ?? '';
      const dues = [proxima_tentativa_em, ...tentativas_previstas].filter((due) => due !== null);
      expect(dues.filter((due) => due <= last)).toEqual([]);
    }
  }
  await world.deliver();
  expect(shown).toBeGreaterThan(20);
  const { body: health } = await partner.send<{ estado: string; em_erro: number }>(
    'GET',
    `/v1/webhooks/${made.id}/saude`,
  );
  expect(health).toMatchObject({ estado: 'falhando', em_erro: 2 });
  const reported = world.postsTo(listener.path).map(({ headers }) => headers['x-webhook-event']);
  expect(new Set(reported)).toEqual(new Set(['webhook.falhando', 'webhook.atraso', 'webhook.erro']));
  await alerts.close();
});
