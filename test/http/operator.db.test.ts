/** What the operator's page does, done by calls of the API alone. */
import { expect, test } from 'vitest';
import type { WebhookHistory } from '../../src/contract/resources/webhook.ts';
import type {
  Jobs,
  OperatorWait,
  OperatorWebhooks,
  Queue,
  ShownPartner,
  ShownWebhook,
} from '../../src/contract/resources/operator.ts';
import { startDeliveryWorld, useSubscriber } from '../support/delivery-world.ts';

const world = await startDeliveryWorld();
const token = await world.api.token(undefined, ['operador']);
const { partner, webhook } = useSubscriber(world);

const read = async <T>(path: string) => (await world.api.send<T>('GET', `/v1/operador/${path}`, { token })).body;
const act = (method: string, path: string, body: object) =>
  world.api.send<ShownWebhook>(method, `/v1/operador/${path}`, { token, body });

test('a webhook is muted, found among the muted, unmuted and capped, each with its line of history', async () => {
  const muted = await act('POST', `webhooks/${webhook.id}/silenciar`, { motivo: ' responde 500 ' });
  expect([muted.status, muted.body.silenciado_desde]).toEqual([200, expect.any(String)]);
  await partner.emit();
  await world.deliver();
  expect(world.postsTo(webhook.path)).toEqual([]);
  const list = await read<OperatorWebhooks>(`webhooks?estado=silenciado&parceiro_id=${partner.id}`);
  expect(list.itens.map(({ id }) => id)).toEqual([webhook.id]);
  expect(await read<Queue>('fila')).toMatchObject({
    webhooks: expect.arrayContaining([expect.objectContaining({ webhook_id: webhook.id, estado: 'silenciada' })]),
  });
  expect((await act('POST', `webhooks/${webhook.id}/silenciar`, { motivo: 'de novo' })).status).toBe(409);
  expect((await act('POST', `webhooks/${webhook.id}/reabrir`, { motivo: 'corrigido' })).status).toBe(200);
  await world.deliver();
  expect(world.postsTo(webhook.path)).toHaveLength(1);
  expect((await act('PUT', `webhooks/${webhook.id}/limite`, { limite: 3 })).body.limite).toBe(3);
  const shown = await read<ShownWebhook>(`webhooks/${webhook.id}`);
  expect(shown.historico.map(({ mudanca, motivo }) => [mudanca, motivo])).toEqual([
    ['limite', 'de 64 para 3'],
    ['fim_do_silenciamento', 'corrigido'],
    ['silenciamento', 'responde 500'],
    ['criacao', null],
  ]);
  expect(shown.historico[0]?.autor).toMatch(/^operador:/);
  // The partner is told that it was the lender, not who of its people, nor why.
  const { status, body, text } = await partner.send<WebhookHistory>('GET', `/v1/webhooks/${webhook.id}/historico`);
  expect([status, body.proximo_cursor, text.includes('responde 500')]).toEqual([200, null, false]);
  expect(body.itens.map(({ mudanca, autor }) => [mudanca, autor])).toEqual([
    ['limite', 'operador'],
    ['fim_do_silenciamento', 'operador'],
    ['silenciamento', 'operador'],
    ['criacao', expect.not.stringContaining('operador')],
  ]);
  expect(body.itens[3]).toMatchObject({ ativo: true, url: expect.stringContaining(webhook.path) });
  const stranger = await world.subscriber();
  expect((await stranger.send('GET', `/v1/webhooks/${webhook.id}/historico`)).status).toBe(404);
  expect(shown.entregas).toEqual({ pendentes: 0, em_andamento: 0, suspensas: 0, em_erro: 0 });
});

test('a partner is let go, once and with a reason, and its history says by whom', async () => {
  expect((await act('POST', `parceiros/${partner.id}/desligar`, {})).status).toBe(400);
  const withCpf = await act('POST', `parceiros/${partner.id}/desligar`, { motivo: 'pedido de 529.982.247-25' });
  expect([withCpf.status, withCpf.text]).toEqual([400, expect.stringContaining('não pode ter um CPF')]);
  expect((await act('POST', `parceiros/${partner.id}/desligar`, { motivo: 'contrato encerrado' })).status).toBe(200);
  expect((await act('POST', `parceiros/${partner.id}/desligar`, { motivo: 'x' })).status).toBe(409);
  const { ativo, historico } = await read<ShownPartner>(`parceiros/${partner.id}`);
  expect([ativo, historico[0]]).toEqual([
    false,
    expect.objectContaining({
      mudanca: 'desativacao',
      autor: expect.stringMatching(/^operador:/),
      motivo: 'contrato encerrado',
    }),
  ]);
});

test('why a delivery waits is told with the row that proves it, and what runs by itself with its last run', async () => {
  await partner.emit();
  const [{ id }] = await world.api.database.sql<[{ id: string }]>`
    select id from deliveries where webhook_id = ${webhook.id}`;
  expect(await read<OperatorWait>(`entregas/${id}/espera`)).toMatchObject({
    entrega_id: id,
    webhook_id: webhook.id,
    parceiro_id: partner.id,
    status: 'pendente',
    motivo: 'sem_poller',
    explicacao_en: expect.stringContaining('no poller lives: start poll'),
    pollers_vivos: 0,
    reivindicacao: null,
    janela: 8,
  });
  expect(await read<Jobs>('tarefas')).toEqual({ itens: [] });
  await world.api.database.sql`
    insert into scheduled_jobs (name, schedule, next_at, started_at, ended_at, exit_code, result)
    values ('verify', '0 3 * * *', '2026-01-31T06:00:00Z', now() - interval '2 seconds', now(), 0, 'holds')`;
  const [job] = (await read<Jobs>('tarefas')).itens;
  expect(job).toMatchObject({
    tarefa: 'verify',
    agenda: '0 3 * * *',
    duracao_s: 2,
    codigo_saida: 0,
    resultado: 'holds',
  });
});

test('an operator whose token names a partner is refused, and the core, an auditor and a partner are, too', async () => {
  const tokens = [
    await world.api.token(partner.id, ['operador']),
    await world.api.token(partner.id, ['webhooks:read', 'webhooks:write']),
    await world.api.token(undefined, ['auditoria:read', 'nucleo']),
  ];
  for (const other of tokens) {
    const { status } = await world.api.send('POST', `/v1/operador/webhooks/${webhook.id}/silenciar`, {
      token: other,
      body: { motivo: 'x' },
    });
    expect(status).toBe(403);
  }
  expect((await read<ShownWebhook>(`webhooks/${webhook.id}`)).historico).toHaveLength(1);
});
