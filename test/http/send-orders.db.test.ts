/** Whatever a partner has sent again, tested or resumed leaves its author for good, and in the evidence. */
import { expect, test } from 'vitest';
import { checkProof } from '../../src/audit/proof/check-proof.ts';
import type { Proof } from '../../src/contract/resources/audit-resource.ts';
import { startDeliveryWorld, useSubscriber } from '../support/delivery-world.ts';
import { sealAndSign, TRUSTED } from '../support/checkpoint.ts';
import { untilSettled } from '../support/settled.ts';

const world = await startDeliveryWorld({ testWaitMs: 50 });
const { partner, webhook } = useSubscriber(world);

/** Whoever asked, by the token and the request's log line. */
async function readOrders() {
  const rows = await world.api.database.sql<
    { kind: string; deliveryIds: string[]; actor: string; partnerId: string; requestId: string }[]
  >`
    select kind, delivery_ids as "deliveryIds", actor, partner_id as "partnerId", request_id as "requestId"
    from send_orders where webhook_id = ${webhook.id} order by position`;
  const known = new Set(world.api.lines.map(({ fields }) => fields['requisicao_id']));
  for (const row of rows) {
    expect(known.has(row.requestId)).toBe(true);
    expect(row).toMatchObject({ actor: partner.id, partnerId: partner.id });
  }
  return rows.map(({ kind, deliveryIds }) => [kind, deliveryIds.length, deliveryIds[0]]);
}

async function idOf(): Promise<string> {
  const path = `/v1/webhooks/${webhook.id}/entregas`;
  const { body } = await partner.send<{ itens: { id: string }[] }>('GET', path);
  return body.itens[0]?.id ?? '';
}

async function readProof(id: string): Promise<Proof> {
  await untilSettled(world.api.database.sql);
  await sealAndSign(world.api.database.pool);
  const token = await world.api.token(undefined, ['auditoria:read', 'auditoria:cpf']);
  return (await world.api.send<Proof>('GET', `/v1/auditoria/entregas/${id}/prova`, { token })).body;
}

test('a resend, a resend of many, a test and a resumption each leave who asked, by which request, for which', async () => {
  await partner.emit();
  await world.deliver();
  const id = await idOf();
  const path = `/v1/webhooks/${webhook.id}`;
  await partner.send('POST', `/v1/entregas/${id}/reenvio`);
  await partner.send('POST', `${path}/reenvios`, { desde: '2026-01-01', status: ['pendente', 'entregue'] });
  const { body: tested } = await partner.send<{ id: string }>('POST', `${path}/teste`);
  await partner.send('DELETE', path);
  await partner.send('PATCH', path, { ativo: true, retomar: true });
  expect(await readOrders()).toEqual([
    ['reenvio', 1, id],
    ['reenvio_em_lote', 1, id],
    ['teste', 1, tested.id],
    ['retomada', 2, id],
  ]);
});

test('what was only counted, refused or found nothing leaves nothing', async () => {
  await partner.emit();
  await world.deliver();
  const id = await idOf();
  const path = `/v1/webhooks/${webhook.id}`;
  await partner.send('POST', `${path}/reenvios`, { desde: '2026-01-01', simular: true });
  await partner.send('POST', `${path}/reenvios`, { desde: '2026-01-01', status: 'erro' });
  await partner.send('PATCH', path, { ativo: true, retomar: true });
  await partner.send('DELETE', path);
  await partner.send('POST', `/v1/entregas/${id}/reenvio`);
  await partner.send('POST', `${path}/teste`);
  expect(await readOrders()).toEqual([]);
});

test('evidence of a delivery holds its orders and no others, sealed', async () => {
  await partner.emit();
  await partner.emit();
  await world.deliver();
  const id = await idOf();
  await partner.send('POST', `/v1/entregas/${id}/reenvio`);
  const { body: tested } = await partner.send<{ id: string }>('POST', `/v1/webhooks/${webhook.id}/teste`);
  await world.deliver();
  const proof = await readProof(id);
  expect(proof.pedidos).toHaveLength(1);
  expect(proof.pedidos[0]?.campos).toMatchObject({ kind: 'reenvio', delivery_ids: [id] });
  expect(checkProof(JSON.stringify(proof), TRUSTED)).toMatchObject({
    fits: true,
    reason: null,
    unsealed: 0,
    facts: { apagado: null },
  });
  const ofTest = await readProof(tested.id);
  expect(checkProof(JSON.stringify(ofTest), TRUSTED)).toMatchObject({
    fits: true,
    reason: null,
    unsealed: 0,
    facts: { apagado: null },
  });

  const check = (pedidos: Proof['pedidos']) => checkProof(JSON.stringify({ ...proof, pedidos }), TRUSTED).reason;
  expect(check(ofTest.pedidos)).toContain('other deliveries');
  const [order] = proof.pedidos;
  const entrada = Buffer.from(order?.entrada ?? '', 'base64')
    .toString('latin1')
    .replace(partner.id, 'somebody else'.padEnd(36));
  const forged = { ...order, entrada: Buffer.from(entrada, 'latin1').toString('base64') } as Proof['pedidos'][number];
  expect(check([forged])).toContain('does not lead to seal');
});
