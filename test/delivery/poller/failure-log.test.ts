import { expect, test } from 'vitest';
import { FailureLog } from '../../../src/delivery/poller/failure-log.ts';
import type { ClaimedDelivery } from '../../../src/delivery/queue/claim.ts';
import type { SendResult } from '../../../src/delivery/sending/send.ts';
import type { Logger } from '../../../src/log-lines.ts';
import { silentLog } from '../../support/silent-log.ts';

const delivery = (webhookId: string) =>
  ({ id: 'd', webhookId, partnerId: 'p', event: 'desembolso.falhou', number: 1 }) as ClaimedDelivery;
const failed = (outcome: 'erro_conexao' | 'tempo_esgotado') =>
  ({ outcome, statusCode: null, durationMs: 3, error: 'https://x/?token=secret' }) as SendResult;

test('a dead endpoint logs its first failure, then one line a minute with a count by outcome', () => {
  const lines: { fields: Record<string, unknown>; message: string }[] = [];
  const log: Logger = { ...silentLog, warn: (fields, message) => void lines.push({ fields, message }) };
  const failures = new FailureLog(log);
  // 400 a second for two minutes; another webhook fails once.
  for (let atMs = 0; atMs <= 120_000; atMs += 2.5) {
    failures.add(delivery('dead'), failed(atMs % 5 === 0 ? 'erro_conexao' : 'tempo_esgotado'), atMs);
  }
  failures.add(delivery('other'), failed('erro_conexao'), 120_001);
  expect(lines.map(({ message }) => message)).toEqual([
    'attempt failed; more of this webhook are told once a minute',
    'attempts failed',
    'attempts failed',
    'attempt failed; more of this webhook are told once a minute',
  ]);
  expect(lines[1]?.fields).toEqual({
    webhook_id: 'dead',
    partner_id: 'p',
    for_s: 60,
    erro_conexao: 11_999,
    tempo_esgotado: 12_000,
  });
  expect(JSON.stringify(lines)).not.toContain('secret');
});

test('a webhook that stopped failing is forgotten, and its rest is told with the next failure of any', () => {
  const lines: unknown[] = [];
  const failures = new FailureLog({ ...silentLog, warn: (fields) => void lines.push(fields) });
  failures.add(delivery('a'), failed('erro_conexao'), 0);
  failures.add(delivery('a'), failed('erro_conexao'), 1);
  failures.add(delivery('b'), failed('erro_conexao'), 90_000);
  failures.add(delivery('b'), failed('erro_conexao'), 300_000);
  expect(lines).toHaveLength(5 - 1);
  expect(lines[1]).toMatchObject({ webhook_id: 'a', erro_conexao: 1, for_s: 90 });
});
