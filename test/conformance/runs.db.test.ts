/** Homologação over the API: a run of the checks, its row and its signed report. */
import { createHash } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { openHeader } from '../../src/audit/checkpoint/checkpoint.ts';
import { openNote } from '../../src/audit/checkpoint/note.ts';
import type { Conformance, ConformanceList } from '../../src/contract/conformance.ts';
import { CHECK_CODES } from '../../src/conformance/checks.ts';
import { sealAndSign, SIGNER } from '../support/checkpoint.ts';
import { startDeliveryWorld, type Subscriber } from '../support/delivery-world.ts';
import { BUGS, startFaultyReceiver } from '../support/faulty-receiver.ts';
import { hang, status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const world = await startDeliveryWorld();
const { pool, sql } = world.api.database;
await (await world.subscriber()).register();
await untilSettled(sql);
await sealAndSign(pool);

/** A webhook of a new partner, at a receiver with a bug, or with none. */
async function receiverWith(bug: (typeof BUGS)[string] | null) {
  const partner = await world.subscriber();
  const made = await partner.register(['averbacao.falhou', 'desembolso.liquidado']);
  const { url } = await startFaultyReceiver(made.secret, bug);
  await sql`update webhooks set url = ${`${url}?token=abc`} where id = ${made.id}`;
  return { partner, path: `/v1/webhooks/${made.id}/homologacao`, id: made.id };
}

async function finished(partner: Subscriber, path: string, id: string, query = ''): Promise<Conformance> {
  return vi.waitUntil(
    async () => {
      const { body } = await partner.send<Conformance>('GET', `${path}/${id}${query}`);
      return body.estado === 'em_andamento' ? null : body;
    },
    { timeout: 300_000 },
  );
}

const begin = (partner: Subscriber, path: string) =>
  partner.send<{ homologacao_id: string; mensagem: string }>('POST', path, {});

test('a sound receiver is approved, and the report is signed and names both sides', async () => {
  const { partner, path, id } = await receiverWith(null);
  const begun = await begin(partner, path);
  expect(begun.status).toBe(202);
  const run = await finished(partner, path, begun.body.homologacao_id);
  expect(run.verificacoes.map(({ codigo, resultado }) => `${codigo} ${resultado}`)).toEqual(
    CHECK_CODES.map((code) => `${code} passou`),
  );
  expect(run).toMatchObject({ estado: 'aprovada', fim: expect.any(String) });

  const runId = begun.body.homologacao_id;
  const asked = `${path}/${runId}/relatorio`;
  const token = await world.api.token(partner.id, ['webhooks:read']);
  const { text: file, headers } = await world.api.send('GET', asked, { token });
  expect(headers.get('content-disposition')).toContain(`homologacao-${runId}.txt`);
  expect(createHash('sha256').update(file).digest('hex')).toBe(run.relatorio_sha256);
  const note = openNote(file, [SIGNER]);
  expect(note?.signedBy).toEqual([SIGNER]);
  const report = JSON.parse(note?.text ?? '');
  expect(report).toMatchObject({
    formato: 'carteiro-homologacao/1',
    homologacao_id: runId,
    credor: { nome: SIGNER.name, endereco: 'https://carteiro.example.com/' },
    parceiro: { id: partner.id, nome: 'Parceiro' },
    webhook: {
      id,
      url: expect.stringMatching(/\/carteiro\?…$/),
      eventos: ['averbacao.falhou', 'desembolso.liquidado'],
    },
    resumo: { passou: CHECK_CODES.length, falhou: 0, nao_se_aplica: 0 },
  });
  expect(Object.keys(report)).toEqual(Object.keys(report).toSorted());
  expect(report.verificacoes[0].detalhe).toEqual({ pt: expect.any(String), en: expect.any(String) });
});

test('a bug is found, and told in the language that was asked for', async () => {
  const { partner, path } = await receiverWith(BUGS['breaks on null'] ?? null);
  const { body } = await begin(partner, path);
  const run = await finished(partner, path, body.homologacao_id, '?idioma=en');
  expect(run.estado).toBe('reprovada');
  expect(run.verificacoes.filter(({ resultado }) => resultado === 'falhou')).toEqual([
    { codigo: 'nulo', titulo: 'Takes null', resultado: 'falhou', detalhe: expect.stringContaining('There came: 500') },
  ]);
  const { body: list } = await partner.send<ConformanceList>('GET', path);
  expect(list.itens).toEqual([
    expect.objectContaining({
      homologacao_id: body.homologacao_id,
      estado: 'reprovada',
      pedida_por: expect.any(String),
    }),
  ]);
});

test('each POST is a test with ids that nothing has and the checkpoint, and none is a delivery or an event', async () => {
  const partner = await world.subscriber();
  const webhook = await partner.register();
  const path = `/v1/webhooks/${webhook.id}/homologacao`;
  const { body } = await begin(partner, path);
  await finished(partner, path, body.homologacao_id);
  const posts = world.postsTo(webhook.path);
  expect(posts.length).toBeGreaterThan(35);
  for (const { headers } of posts) {
    expect(headers['x-webhook-test']).toBe('1');
    expect(headers['x-webhook-delivery']).toMatch(/^00000000-0000-7000-8000-/);
    expect(openHeader(String(headers['x-carteiro-checkpoint']), [SIGNER])).not.toBeNull();
  }
  expect((await partner.send<{ itens: [] }>('GET', '/v1/eventos')).body.itens).toEqual([]);
  expect((await partner.send<{ itens: [] }>('GET', '/v1/entregas')).body.itens).toEqual([]);
});

test('a previous secret that no key opens is left out, as it is of deliveries', async () => {
  const { partner, path, id } = await receiverWith(null);
  await sql`
    update webhooks set previous_encrypted_secret = ${Buffer.alloc(80)}, previous_until = now() + interval '1 hour'
    where id = ${id}`;
  const { body } = await begin(partner, path);
  expect(await finished(partner, path, body.homologacao_id)).toMatchObject({ estado: 'aprovada' });
});

test('a run whose secret no key opens ends at once, without a verdict', async () => {
  const { partner, path, id } = await receiverWith(null);
  await sql`update webhooks set encrypted_secret = ${Buffer.alloc(80)} where id = ${id}`;
  const { body } = await begin(partner, path);
  const run = await finished(partner, path, body.homologacao_id);
  expect(run).toMatchObject({ estado: 'interrompida', verificacoes: [], fim: expect.any(String) });
});

test('a webhook has one run at a time; one whose process died is interrupted, and gives way to the next', async () => {
  const partner = await world.subscriber();
  const webhook = await partner.register();
  const path = `/v1/webhooks/${webhook.id}/homologacao`;
  const [dead] = await sql<[{ id: string }]>`
    insert into conformance_runs (webhook_id, partner_id, actor, alive_until)
    values (${webhook.id}, ${partner.id}, 'x', now() + interval '1 minute') returning id`;
  const refused = await begin(partner, path);
  expect([refused.status, refused.body.mensagem]).toEqual([409, 'uma homologação deste webhook já está em andamento']);
  await sql`update conformance_runs set alive_until = now() - interval '1 second' where id = ${dead.id}`;
  const { body: over } = await partner.send<Conformance>('GET', `${path}/${dead.id}`);
  expect(over).toMatchObject({ estado: 'interrompida', relatorio_sha256: null });
  expect((await partner.send('GET', `${path}/${dead.id}/relatorio`)).status).toBe(404);
  const begun = await begin(partner, path);
  expect(begun.status).toBe(202);
  await finished(partner, path, begun.body.homologacao_id);
});

test('a URL that has answered no 2xx gets the first POST alone, and after ten refusals none for a while', async () => {
  const partner = await world.subscriber();
  const webhook = await partner.register();
  await sql`update webhooks set refusals = 9 where id = ${webhook.id}`;
  world.receiver.answerWith(status(404), webhook.path);
  const path = `/v1/webhooks/${webhook.id}/homologacao`;
  const { body } = await begin(partner, path);
  const run = await finished(partner, path, body.homologacao_id);
  expect(run.verificacoes[0]).toMatchObject({ codigo: 'propria', resultado: 'falhou' });
  expect(world.postsTo(webhook.path).length).toBeLessThan(10);
  const again = await begin(partner, path);
  expect([again.status, again.body.mensagem]).toEqual([409, expect.stringContaining('ainda não respondeu 2xx')]);
});

test('a partner has two runs at once, and leaves room for others', async () => {
  const partner = await world.subscriber();
  const webhooks = [await partner.register(), await partner.register(), await partner.register()];
  for (const { path } of webhooks) world.receiver.answerWith(hang(), path);
  const paths = webhooks.map(({ id }) => `/v1/webhooks/${id}/homologacao`);
  const begun = await Promise.all(paths.map((path) => begin(partner, path)));
  expect(begun.filter((answer) => answer.status === 202)).toHaveLength(2);
  expect(begun.filter((answer) => answer.status === 503)).toHaveLength(1);
  const other = await receiverWith(null);
  expect((await begin(other.partner, other.path)).status).toBe(202);
  world.receiver.closeConnections();
  for (const [index, { status: answered, body }] of begun.entries())
    if (answered === 202) await finished(partner, paths[index] ?? '', body.homologacao_id);
});

test('an inactive webhook and another partner are refused as by a test', async () => {
  const { partner, path, id } = await receiverWith(null);
  const other = await world.subscriber();
  expect((await begin(other, path)).status).toBe(404);
  expect((await other.send('GET', path)).status).toBe(404);
  await sql`update webhooks set active = false where id = ${id}`;
  expect((await begin(partner, path)).status).toBe(409);
});

test('a service that stops ends its runs behind the POST under way, without a report', async () => {
  const partner = await world.subscriber();
  const webhook = await partner.register();
  world.receiver.answerWith(hang(), webhook.path);
  const path = `/v1/webhooks/${webhook.id}/homologacao`;
  const { body } = await begin(partner, path);
  await vi.waitUntil(() => world.postsTo(webhook.path).length > 0, { timeout: 300_000 });
  const closing = world.api.deps.conformance.close();
  world.receiver.closeConnections();
  await closing;
  const run = await finished(partner, path, body.homologacao_id);
  expect(run).toMatchObject({ estado: 'interrompida', relatorio_sha256: null, fim: expect.any(String) });
});
