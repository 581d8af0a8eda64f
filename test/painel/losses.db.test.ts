/** What a partner has lost stands above everything, with its cause, the next step and the way to send it again. */
import { expect, test } from 'vitest';
import { startPainelWorld } from '../support/painel.ts';
import { advance, startEngine } from '../support/engine.ts';
import { status } from '../support/receiver.ts';

const world = await startPainelWorld();
const { pool, sql } = world.api.database;
const engine = startEngine(pool, { openSecret: (id, sealed) => world.api.vault.decrypt(id, sealed) });
const partner = await world.subscriber();
const webhook = await partner.register(['desembolso.falhou']);
world.receiver.answerWith(status(401, 'assinatura errada'), webhook.path);
await partner.emit();
for (const minutes of [60, 1, 5, 15, 60, 360]) {
  advance(engine, minutes * 60);
  while ((await engine.poll()) > 0);
}
const [delivery] = await sql<
  { id: string; eventId: string; status: string }[]
>`select id, event_id as "eventId", status from deliveries`;

test('overview, list and the webhook itself tell what is lost, why, what to do, and lead to the recovery', async () => {
  expect(delivery?.status).toBe('erro');
  const visitor = await world.signedIn(partner.id);
  for (const path of ['/painel/visao', '/painel/webhooks', `/painel/webhooks/${webhook.id}`]) {
    const { text } = await visitor.get(path);
    expect([
      path,
      text.indexOf('1 entrega em erro') < text.indexOf(path.endsWith('visao') ? 'chart-rate' : '<dl'),
    ]).toEqual([path, path !== '/painel/webhooks']);
    for (const part of ['o receptor respondeu HTTP 401', 'HMAC', `/painel/webhooks/${webhook.id}/recuperar?desde=`]) {
      expect([path, text.includes(part)]).toEqual([path, true]);
    }
    const [link = ''] = /\/painel\/webhooks\/[^"]+recuperar\?desde=[^"]+/.exec(text) ?? [];
    const form = await visitor.get(link);
    expect([form.status, /name="desde" value="\d{4}-\d\d-\d\dT\d\d:\d\d"/.test(form.text)]).toEqual([200, true]);
  }
  const one = (await visitor.get(`/painel/entregas/${delivery?.id}`)).text;
  expect(one).toMatch(/O que fazer:/);
  expect(one).toMatch(/Sandbox|Produção/);
});

test('a label names the webhook on its page, in lists, and beside the deliveries of an event', async () => {
  const visitor = await world.signedIn(partner.id);
  const page = `/painel/webhooks/${webhook.id}`;
  const saved = await visitor.submit(page, `${page}/rotulo`, { rotulo: 'Folha <de> pagamento' });
  expect(saved.headers.get('location')).toBe(`${page}?feito=rotulado`);
  for (const path of [page, '/painel/webhooks', '/painel/visao', `/painel/eventos/${delivery?.eventId}`]) {
    expect([path, (await visitor.get(path)).text.includes('Folha &lt;de&gt; pagamento')]).toEqual([path, true]);
  }
  const options = `/v1/webhooks/${webhook.id}/opcoes`;
  expect((await partner.send('GET', options)).body).toEqual({ ordem: 'nenhuma', rotulo: 'Folha <de> pagamento' });
  expect((await partner.send('PUT', options, { ordem: 'por_emprestimo' })).body).toMatchObject({
    rotulo: 'Folha <de> pagamento',
  });
  expect((await partner.send('PUT', options, { rotulo: null })).body).toEqual({
    ordem: 'por_emprestimo',
    rotulo: null,
  });
  for (const body of [{}, { rotulo: 'x'.repeat(81) }, { rotulo: 'a\nb' }]) {
    expect((await partner.send('PUT', options, body)).status).toBe(400);
  }
  // The rotation waits unless it is told otherwise.
  expect((await visitor.get(page)).text).toMatch(/<option value="23"\s+selected/);
});
