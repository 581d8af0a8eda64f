/** Why a delivery waits: the first reason that holds, by the command, over HTTP, and by the rules alone. */
import { expect, test } from 'vitest';
import { TIMES_S } from '../../../src/contract/delivery.ts';
import { explain, type WaitingFacts } from '../../../src/delivery/partner/explain.ts';
import { callCommand } from '../../support/command.ts';
import { startDeliveryWorld, useSubscriber } from '../../support/delivery-world.ts';
import { status } from '../../support/receiver.ts';

const world = await startDeliveryWorld();
const { partner, webhook } = useSubscriber(world);

interface Wait {
  readonly motivo: string;
  readonly explicacao: string;
  readonly proxima_tentativa_em: string | null;
}

async function onlyId(): Promise<string> {
  return (await partner.send<{ itens: { id: string }[] }>('GET', '/v1/entregas')).body.itens[0]?.id ?? '';
}

const ask = async () => (await partner.send<Wait>('GET', `/v1/entregas/${await onlyId()}/espera`)).body;

test('the partner is told each reason as it comes and goes; another partner is told nothing', async () => {
  world.receiver.answerWith(status(503), webhook.path);
  const { sql } = world.api.database;
  await partner.emit();
  expect(await ask()).toMatchObject({ motivo: 'sem_poller' });
  await sql`insert into processes (name, role, host, version, keys) values ('p', 'poller', 'h', '1', '{}')`;
  expect(await ask()).toMatchObject({ motivo: 'a_caminho' });
  await sql`update lanes set muted_at = now() where webhook_id = ${webhook.id}`;
  expect(await ask()).toMatchObject({ motivo: 'silenciado' });
  await sql`update lanes set muted_at = null where webhook_id = ${webhook.id}`;
  await world.deliver();
  const retry = await ask();
  expect(retry).toMatchObject({
    motivo: 'proxima_tentativa',
    explicacao: expect.stringContaining('1 (resposta_nao_2xx)') as string,
  });
  expect(retry.explicacao).toContain(retry.proxima_tentativa_em);
  await sql`update webhooks set active = false where id = ${webhook.id}`;
  expect(await ask()).toMatchObject({ motivo: 'webhook_inativo' });
  await sql`update webhooks set active = true where id = ${webhook.id}`;
  const elsewhere = await partner.send('GET', '/v1/entregas/019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b/espera');
  expect(elsewhere.status).toBe(404);
});

test('queue explain tells the operator the sentence and the facts that prove it', { timeout: 120_000 }, async () => {
  await partner.emit();
  const id = await onlyId();
  const env = { DATABASE_URL: world.api.database.url, SANDBOX: 'true' };
  const { code, stdout } = await callCommand(['queue', 'explain', id], env);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^It has been due for \d+ s and .*\n {2}partnerId: [^]*\n {2}status: pendente\n/);
  const unknown = await callCommand(['queue', 'explain', '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b'], env);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('there is no delivery') as string]);
});

const FACTS: WaitingFacts = {
  partnerId: 'p',
  webhookId: 'w',
  status: 'pendente',
  failures: 0,
  lastOutcome: null,
  nextAttemptAt: new Date(0),
  isHeld: false,
  claimedBy: null,
  claimedS: null,
  isLost: false,
  dueS: 3,
  isPartnerActive: true,
  isWebhookActive: true,
  mutedAt: null,
  failingSince: null,
  refusals: null,
  quietUntil: null,
  inFlight: 0,
  window: 8,
  livingPollers: 1,
  sendFault: null,
  sendFaultSince: null,
};

test.each([
  ['encerrada', { status: 'entregue', isPartnerActive: false }],
  ['encerrada', { status: 'erro', failures: 6 }],
  ['parceiro_inativo', { status: 'suspensa', isPartnerActive: false }],
  ['webhook_inativo', { status: 'suspensa' }],
  ['em_andamento', { claimedBy: 'p/1', claimedS: 3, mutedAt: new Date(0) }],
  ['tentativa_perdida', { claimedBy: 'p/1', claimedS: TIMES_S.lease + 5, isLost: true }],
  ['silenciado', { mutedAt: new Date(0), livingPollers: 0 }],
  ['outra_do_emprestimo', { isHeld: true, nextAttemptAt: null, dueS: 0 }],
  ['proxima_tentativa', { dueS: -60, livingPollers: 0 }],
  ['falha_nossa', { sendFault: 'no key', sendFaultSince: new Date(0), dueS: -30, livingPollers: 0 }],
  ['sem_poller', { livingPollers: 0, inFlight: 8 }],
  ['webhook_falhando', { failingSince: new Date(0), inFlight: 1 }],
  ['limite_do_webhook', { inFlight: 8 }],
  ['a_caminho', { inFlight: 7 }],
] as const)('%s: %j', (reason, facts) => {
  const found = explain({ ...FACTS, ...facts });
  expect(found.reason).toBe(reason);
  // What only the operator may know stays out of the partner's sentence.
  expect(found.pt).not.toMatch(/p\/1|poller/);
});
