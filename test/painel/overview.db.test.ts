/** The overview's numbers. */
import { describe, expect, test } from 'vitest';
import type { Summary } from '../../src/contract/resources/summary.ts';
import { seriesOf } from '../../src/painel/overview/pulse.ts';
import { startPainelWorld } from '../support/painel.ts';
import { countHours } from '../../src/delivery/queue/maintenance/hour-counter.ts';
import { status } from '../support/receiver.ts';
import { untilSettled } from '../support/settled.ts';

const world = await startPainelWorld();

test('counts are drawn by the minute', () => {
  const step = { entregues: 3, falhas: 1, p50_ms: 2, p99_ms: 9 };
  const series = seriesOf({ passo_segundos: 15, passos: [{ inicio: '2026-01-31T12:00:30.000Z', ...step }] });
  expect(series).toEqual({ at: [1769860830], delivered: [12], failed: [4], p50: [2], p99: [9] });
});

describe('the overview', () => {
  test('tells what was sent, what waits and what fails, of this partner alone', async () => {
    const partner = await world.subscriber();
    const [, bad] = [await partner.register(), await partner.register()];
    world.receiver.answerWith(status(500), bad.path);
    await partner.emit();
    await partner.emit();
    await world.deliver();
    const tiles = tilesIn((await (await world.signedIn(partner.id)).get('/painel/visao')).text);
    expect(tiles).toMatchObject({
      Entregues: '2',
      'Tentativas que falharam': '2',
      Pendentes: '2',
      'Webhooks com falhas': '1',
    });
    expect(tiles['Chegada (p50)']).toMatch(/^\d+ ms$/);
    const { body } = await partner.send<Summary>('GET', '/v1/resumo?janela=15m');
    expect([body.passos.length, body.entregues, body.falhas, body.espera.pendentes]).toEqual([61, 2, 2, 2]);
    const reported = body.passos.filter(({ entregues, falhas }) => entregues + falhas > 0);
    const ofOne = await partner.send<Summary>('GET', `/v1/resumo?janela=15m&webhook_id=${bad.id}`);
    expect([ofOne.body.entregues, ofOne.body.falhas, ofOne.body.espera.pendentes]).toEqual([0, 2, 2]);
    // One step, or the two beside a border of them; all others are zeros.
    expect(reported.reduce((sum, { entregues, falhas }) => sum + entregues + falhas, 0)).toBe(4);
    expect(Date.parse(body.passos[1]?.inicio ?? '') - Date.parse(body.passos[0]?.inicio ?? '')).toBe(15_000);
    // A day and a week are of kept counts.
    await untilSettled(world.api.database.sql);
    await countHours(world.api.database.pool);
    for (const [janela, steps] of [
      ['24h', 97],
      ['7d', 85],
    ] as const) {
      const [all, one] = await Promise.all(
        ['', `&webhook_id=${bad.id}`].map(
          async (filter) => (await partner.send<Summary>('GET', `/v1/resumo?janela=${janela}${filter}`)).body,
        ),
      );
      expect([all?.passos.length, all?.entregues, all?.falhas, all?.mostra_desde]).toEqual([steps, 2, 2, null]);
      expect([one?.entregues, one?.falhas, one?.p99_ms]).toEqual([0, 2, null]);
      expect((all?.p99_ms ?? 0) / (body.p99_ms ?? 1)).toBeCloseTo(1.05, 0);
      const last = all?.passos.reduce((sum, { entregues, falhas }) => sum + entregues + falhas, 0);
      expect(last).toBe(4);
      const foreign = await world.subscriber();
      const path = `/v1/resumo?janela=${janela}&webhook_id=${bad.id}`;
      expect((await foreign.send<Summary>('GET', path)).body.falhas).toBe(0);
    }
    const stranger = tilesIn((await (await world.signedIn(await world.api.partner())).get('/painel/visao')).text);
    expect(stranger).toMatchObject({ Entregues: '0', 'Tentativas que falharam': '0', Pendentes: '0' });
  });
});

function tilesIn(text: string): Record<string, string> {
  const found = text.matchAll(/<dt>([^<]+)<\/dt>\s*<dd>([^<]*)</g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name.trim(), value.trim()]));
}
