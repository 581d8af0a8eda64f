/** `GET /v1/entregas/{id}`: the exact body, and each attempt's headers as they were sent. */
import { expect, test } from 'vitest';
import type { DeliveryAsSent } from '../../src/contract/resources/delivery-resource.ts';
import { startDeliveryWorld, useSubscriber } from '../support/delivery-world.ts';
import { status } from '../support/receiver.ts';

const world = await startDeliveryWorld();
const { partner, webhook } = useSubscriber(world);

async function readOnly(): Promise<DeliveryAsSent> {
  const { itens } = (await partner.send<{ itens: { id: string }[] }>('GET', '/v1/entregas')).body;
  return (await partner.send<DeliveryAsSent>('GET', `/v1/entregas/${itens[0]?.id}`)).body;
}

const OF_HTTP = new Set(['host', 'connection', 'content-length']);
/** The second that they tell may be the next one. */
const UNCERTAIN = new Set(['webhook-timestamp', 'webhook-signature']);

test('shows the body byte for byte, and the headers of each attempt as the receiver got them', async () => {
  world.receiver.answerWith(status(503), webhook.path);
  await partner.emit();
  await world.deliver();
  const before = await readOnly();
  await partner.send('POST', `/v1/entregas/${before.id}/reenvio`);
  await world.deliver();

  const shown = await readOnly();
  const posts = world.postsTo(webhook.path);
  expect(posts).toHaveLength(2);
  expect(shown.tentativas).toHaveLength(2);
  for (const [index, post] of posts.entries()) {
    expect(Buffer.from(shown.corpo)).toEqual(post.body);
    const attempt = shown.tentativas[index];
    const got = Object.fromEntries(Object.entries(post.headers).filter(([name]) => !OF_HTTP.has(name)));
    const reported = Object.fromEntries(
      attempt?.cabecalhos.map(({ nome, valor }) => [nome.toLowerCase(), valor]) ?? [],
    );
    for (const name of UNCERTAIN) expect(reported[name]).toBeDefined();
    const certain = (headers: object) => Object.entries(headers).filter(([name]) => !UNCERTAIN.has(name));
    expect(Object.fromEntries(certain(reported))).toEqual(Object.fromEntries(certain(got)));
    expect(new Set(Object.keys(reported))).toEqual(new Set(Object.keys(got)));
    expect(attempt).toMatchObject({ assinaturas_conhecidas: true, endereco: '127.0.0.1', url: webhook.url });
  }
});

test('leaves out the signatures of an attempt of which nobody knows which secret signed it', async () => {
  await partner.emit();
  await world.deliver();
  await partner.send('POST', `/v1/webhooks/${webhook.id}/segredo`);
  const [attempt] = (await readOnly()).tentativas;
  expect(attempt?.assinaturas_conhecidas).toBe(false);
  expect(attempt?.cabecalhos.map(({ nome }) => nome)).toEqual([
    'Content-Type',
    'Accept',
    'User-Agent',
    'X-Webhook-Event',
    'X-Webhook-Delivery',
    'webhook-id',
    'webhook-timestamp',
    'X-Webhook-Loan-Version',
  ]);
});

test('shows the body of a delivery that was not tried yet, and no secret', async () => {
  await partner.emit();
  const shown = await readOnly();
  expect([shown.tentativas, JSON.parse(shown.corpo)]).toMatchObject([[], { evento: 'desembolso.falhou' }]);
  await world.deliver();
  expect(JSON.stringify(await readOnly())).not.toContain(webhook.secret);
});
