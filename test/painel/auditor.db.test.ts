/** The auditor's pages and the operator's: over all partners, masked, and closed to everybody else. */
import { describe, expect, test } from 'vitest';
import { keepVerdict } from '../../src/audit/seals/verdicts.ts';
import { heatOf } from '../../src/painel/auditor/balance.ts';
import { sealAndSign } from '../support/checkpoint.ts';
import { untilSettled } from '../support/settled.ts';
import { startPainelWorld, WRITER } from '../support/painel.ts';
import { status } from '../support/receiver.ts';

const AUDITOR_PAGES = ['/painel/auditoria', '/painel/auditoria/balanco', '/painel/auditoria/selos'];

const world = await startPainelWorld();
const partner = await world.subscriber();
const webhook = await partner.register();
world.receiver.answerWith(status(503, '<img src=x onerror=alert(1)> 529.982.247-25'), webhook.path);
await partner.emit();
await world.deliver();
await untilSettled(world.api.database.sql);
await sealAndSign(world.api.database.pool);
const [row] = await world.api.database.sql<[{ id: string; webhookId: string; partnerId: string }]>`
    select id, webhook_id as "webhookId", partner_id as "partnerId" from deliveries`;
const delivery: { id: string; webhookId: string; partnerId: string } = row;
const auditor = await world.signedIn(undefined, ['auditoria:read']);
const operator = await world.signedIn(undefined, ['operador']);

test('each reader is led to its own first page, and no other reader’s is open to it', async () => {
  expect((await auditor.get('/painel')).headers.get('location')).toBe('/painel/auditoria');
  expect((await operator.get('/painel')).headers.get('location')).toBe('/painel/operacao');
  const partner = await world.signedIn(delivery.partnerId, [...WRITER, 'auditoria:read', 'operador']);
  for (const path of [...AUDITOR_PAGES, `/painel/auditoria/entregas/${delivery.id}`, '/painel/operacao']) {
    expect([path, (await partner.get(path)).status]).toEqual([path, 403]);
  }
  for (const reader of [auditor, operator]) {
    for (const path of ['/painel/entregas', '/painel/webhooks', `/painel/entregas/${delivery.id}`, '/painel/sandbox']) {
      expect([path, (await reader.get(path)).status]).toEqual([path, 403]);
    }
  }
  expect((await auditor.get('/painel/operacao')).status).toBe(403);
  expect((await operator.get('/painel/auditoria')).status).toBe(403);
});

describe('the auditor', () => {
  test('searches the attempts of all partners', async () => {
    const { text } = await auditor.get('/painel/auditoria?resultado=resposta_nao_2xx');
    expect(text).toContain(`/painel/auditoria/entregas/${delivery.id}`);
    expect((await auditor.get('/painel/auditoria?resultado=entregue')).text).not.toContain(delivery.id);
    const wrong = await auditor.get('/painel/auditoria?parceiro_id=nada');
    expect([wrong.status, wrong.text.includes('<code>parceiro_id</code>')]).toEqual([400, true]);
  });

  test('takes them along as the API exports them', async () => {
    const csv = await auditor.get('/painel/auditoria/exportar?formato=csv&resultado=resposta_nao_2xx');
    expect(csv.headers.get('content-disposition')).toContain('tentativas.csv');
    expect(csv.text.split('\r\n')).toHaveLength(3);
    expect(csv.text).not.toContain('529.982.247-25');
    const ndjson = await auditor.get('/painel/auditoria/exportar?formato=ndjson');
    expect(JSON.parse(ndjson.text.trim().split('\n').at(-1) ?? '')).toMatchObject({ manifesto: { linhas: 1 } });
    expect((await auditor.get('/painel/auditoria/exportar?resultado=nada')).status).toBe(400);
  });

  test('sees the balance by day, and that it closes', async () => {
    const { text } = await auditor.get('/painel/auditoria/balanco?de=2026-01-20&ate=2026-02-05');
    expect(text).toContain('O balanço fecha');
    expect(text).toMatch(/class="number heat-4"[^>]*>0\/1</);
    expect((await auditor.get('/painel/auditoria/balanco?de=2026-02-01&ate=2026-01-01')).status).toBe(400);
    expect(text).toContain('O balanço de cada noite ainda não correu');
    await world.api.database.sql`
      insert into balance_verdicts (from_day, to_day, closes, differences) values ('2026-01-01', '2026-01-31', false, 3)`;
    const open = (await auditor.get('/painel/auditoria/balanco?de=2026-01-20&ate=2026-02-05')).text;
    expect(open).toContain('de 2026-01-01 a 2026-01-31, 3 diferenças');
    const shares = [100, 100, 99.5, 95, 60, 0].map((entregue) => heatOf({ esperadas: 100, entregue }));
    expect(shares).toEqual([0, 0, 1, 2, 3, 4]);
    expect(heatOf({ esperadas: 0, entregue: 0 })).toBe(0);
  });

  test('verifies the chain, against a head that was kept outside too', async () => {
    const page = '/painel/auditoria/selos';
    expect((await auditor.get(page)).text).toContain('ainda não correu');
    const kept = { seals: 1, rows: 1, head: { size: 1, root: Buffer.alloc(32) }, findings: [], uncompared: null };
    await world.api.database.pool.run((sql) => keepVerdict(sql, 0, kept, true));
    expect((await auditor.get(page)).text).toContain('1 selos, nenhum achado');
    expect((await auditor.submit(page, page)).text).toContain('O registro está inteiro');
    expect((await auditor.submit(page, page, { cabeca: 'nada' })).text).toContain('não é uma cabeça');
    const cut = await auditor.submit(page, page, { cabeca: `99:${'0'.repeat(64)}` });
    expect(cut.text).toContain('O registro não confere');
    expect((await auditor.post(page, {})).status).toBe(403);
  });

  test('reads one delivery as evidence, masked without the grant and whole with it', async () => {
    const path = `/painel/auditoria/entregas/${delivery.id}`;
    const { text } = await auditor.get(path);
    expect(text).toContain('Confere o que pôde ser conferido');
    expect(text).not.toMatch(/529\.982\.247-25|<img src=x/);
    const whole = await world.signedIn(undefined, ['auditoria:read', 'auditoria:cpf']);
    expect((await whole.get(path)).text).toContain('Tudo confere');
    const file = await whole.get(`${path}/prova`);
    expect(JSON.parse(file.text)).toMatchObject({ formato: 'carteiro-prova-2', entrega: { id: delivery.id } });
    expect((await auditor.get('/painel/auditoria/entregas/01a20695-2722-7d59-8fa9-fac65cb65709')).status).toBe(404);
  });
});

describe('the operator', () => {
  test('sees the queue, the pollers and what fails', async () => {
    const { text } = await operator.get('/painel/operacao');
    expect(text).toContain(delivery.webhookId);
    expect(text).toMatch(/<code>test-[0-9a-f]{6}<\/code>/);
    expect(text).toContain('1 falhas');
  });
});
