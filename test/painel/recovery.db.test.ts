/** What failed of a webhook, counted and sent again on the page; and the webhook's page, with its chart and its history. */
import { expect, test } from 'vitest';
import type { DeliveryResource } from '../../src/contract/resources/delivery-resource.ts';
import { commitEvents } from '../support/outbox.ts';
import { formTokenIn, READER, startPainelWorld } from '../support/painel.ts';
import { status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const world = await startPainelWorld({ resendMs: 0 });

const SINCE = 'desde=2020-01-01T00:00';

/** The hidden fields of the page's form. */
const hiddenIn = (text: string) =>
  new URLSearchParams(
    [...text.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']): [string, string] => [name, value],
    ),
  ) as unknown as Record<string, string>;

test('what failed is counted first, sent on a word, and only what was asked for', async () => {
  const partner = await world.subscriber();
  const { id, path } = await partner.register();
  await partner.emit();
  await partner.emit();
  const { sql } = world.api.database;
  await sql`with over as (delete from pending where webhook_id = ${id})
            update deliveries set status = 'erro', attempts = 6, failures = 6, finished_at = now(), next_attempt_at = null
            where webhook_id = ${id}`;
  const visitor = await world.signedIn(partner.id);
  const page = `/painel/webhooks/${id}/recuperar`;
  expect((await visitor.get(`/painel/entregas?webhook=${id}&evento=desembolso.falhou`)).text).toContain(
    `${page}?evento=desembolso.falhou`,
  );
  const mismatch = await visitor.get(`${page}?${SINCE}&contar=sim&evento=repasse.processado`);
  expect(mismatch.text).toContain('0 entregas servem');
  expect((await visitor.get(`${page}?desde=ontem&contar=sim`)).status).toBe(400);
  expect((await visitor.get(`${page}?desde=2026-13-01T00:00:00Z&contar=sim`)).status).toBe(400);
  const counted = await visitor.get(`${page}?${SINCE}&contar=sim&status=erro`);
  expect(counted.text).toContain('2 entregas servem');
  await world.deliver();
  expect(world.postsTo(path)).toEqual([]);
  const sent = await visitor.post(page, hiddenIn(counted.text.split('class="card"')[1] ?? ''));
  expect(sent.headers.get('location')).toBe(`/painel/webhooks/${id}?feito=recuperado&entregas=2`);
  await world.deliver();
  expect(world.postsTo(path)).toHaveLength(2);

  await visitor.submit(`/painel/webhooks/${id}`, `/painel/webhooks/${id}/desativar`);
  expect((await visitor.get(`${page}?${SINCE}&contar=sim&status=entregue`)).text).toContain('O webhook está inativo');
  const token = formTokenIn((await visitor.get(`/painel/webhooks/${id}`)).text);
  const refused = await visitor.post(page, { desde: '2020-01-01T00:00', formulario: token });
  expect(refused.status).toBe(409);
  const reader = await world.signedIn(partner.id, READER);
  expect((await reader.get(page)).status).toBe(403);
});

test('more than one request ends is gone on with, and tells how far it is', async () => {
  const partner = await world.subscriber();
  const { id } = await partner.register();
  const { sql } = world.api.database;
  await commitEvents(sql, partner.id, 1_200);
  await sql`with over as (delete from pending where webhook_id = ${id})
            update deliveries set status = 'erro', attempts = 6, failures = 6, finished_at = now(), next_attempt_at = null
            where webhook_id = ${id}`;
  const visitor = await world.signedIn(partner.id);
  const page = `/painel/webhooks/${id}/recuperar`;
  const counted = await visitor.get(`${page}?${SINCE}&contar=sim`);
  expect(counted.text).toContain('1000+ entregas servem');
  const first = await visitor.post(page, hiddenIn(counted.text.split('class="card"')[1] ?? ''));
  expect(first.text).toContain('data-goes-on');
  expect(first.text).toContain('1000 de 1000');
  const last = await visitor.post(page, hiddenIn(first.text.split('data-goes-on')[1]?.split('</form>')[0] ?? ''));
  expect(last.headers.get('location')).toBe(`/painel/webhooks/${id}?feito=recuperado&entregas=1200`);
  const [row] = await sql`select count(*)::int as left from deliveries where webhook_id = ${id} and status = 'erro'`;
  expect(row).toEqual({ left: 0 });
});

test("a webhook's page shows its chart, newest deliveries, periods, order and history", async () => {
  const partner = await world.subscriber();
  const { id, path } = await partner.register();
  await partner.register();
  world.receiver.answerWith(status(500), path);
  await partner.emit();
  await world.deliver();
  const visitor = await world.signedIn(partner.id);
  const page = `/painel/webhooks/${id}`;
  const changed = await visitor.submit(page, `${page}/ordem`, { ordem: 'por_emprestimo' });
  expect(changed.headers.get('location')).toBe(`${page}?feito=ordem`);
  const { text } = await visitor.get(`${page}?feito=ordem`);
  expect(text).toContain('A ordem das entregas mudou.');
  expect(text).toContain('de cada empréstimo uma por vez');
  expect(text).toContain(`hx-get="/painel/visao?janela=1h&amp;webhook=${id}"`);
  expect(text).toMatch(/<dt>Tentativas que falharam<\/dt>\s*<dd>1</);
  expect(text.match(/href="\/painel\/entregas\/[\w-]{36}"/g)).toHaveLength(1);
  expect(text).toMatch(/<code>ordem_por_emprestimo<\/code>[\s\S]*<code>criacao<\/code>/);
  const { itens } = (await partner.send<{ itens: DeliveryResource[] }>('GET', `/v1/webhooks/${id}/entregas`)).body;
  expect(text).toContain(itens[0]?.id);
  expect((await (await world.signedIn(await world.api.partner())).get(page)).status).toBe(404);
});

test('who is signed in stands in the header, and times are those of the chosen zone', async () => {
  const { partner, id, visitor } = await world.member();
  const [row] = await world.api.database.sql<[{ name: string }]>`select name from partners where id = ${partner.id}`;
  expect((await visitor.get('/painel/entregas')).text).toContain(`<strong>${row.name}</strong>`);
  await visitor.post('/painel/preferencias', { fuso: 'UTC', volta: '/painel' });
  const { text } = await visitor.get(`/painel/webhooks/${id}`);
  const [, iso = '', shown = ''] = /<time datetime="([^"]+)"[^>]*>([^<]+)</.exec(text) ?? [];
  expect(shown).toContain(iso.slice(11, 19));
  await visitor.post('/painel/preferencias', { fuso: 'Mars/Olympus', volta: '/painel' });
  expect((await visitor.get('/painel/entregas')).text).toContain('value="America/Sao_Paulo"  selected');
});

test('the feed shows what happened, and one event as JSON beside its deliveries', async () => {
  const partner = await world.subscriber();
  const { id: webhookId } = await partner.register();
  await partner.emit();
  await world.deliver();
  await untilSettled(world.api.database.sql);
  const visitor = await world.signedIn(partner.id);
  const { text } = await visitor.get('/painel/eventos');
  const [, event = ''] = /href="\/painel\/eventos\/([\w-]{36})"/.exec(text) ?? [];
  const [row] = await world.api.database.sql`select id, event_id from deliveries where webhook_id = ${webhookId}`;
  expect(event).toBe(row?.['event_id']);
  const page = await visitor.get(`/painel/eventos/${event}`);
  expect(page.text).toContain('&quot;evento&quot;: &quot;desembolso.falhou&quot;');
  for (const path of [`/painel/entregas/${row?.['id']}`, `/painel/webhooks/${webhookId}`]) {
    expect(page.text).toContain(`href="${path}"`);
  }
  const later = await visitor.get('/painel/eventos?desde=2999-01-01T00:00');
  expect(later.text).toContain('Nenhum evento desde este instante');
  expect((await visitor.get('/painel/eventos?evento=nada')).status).toBe(400);
  expect((await (await world.signedIn(await world.api.partner())).get(`/painel/eventos/${event}`)).status).toBe(404);
});
