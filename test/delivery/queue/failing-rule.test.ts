import { describe, expect, test } from 'vitest';
import { noticeOf, reasonOf } from '../../../src/delivery/queue/maintenance/failing-notice.ts';
import {
  type FailingPolicy,
  judge,
  type Run,
  type FailingStanding,
  whenSuspended,
} from '../../../src/delivery/queue/maintenance/failing-rule.ts';
import { EVENTS } from '../../../src/contract/events.ts';

const POLICY: FailingPolicy = { failingAfter: 5, failingHours: 6, suspendAfterDays: 3 };
const START_MS = Date.UTC(2026, 0, 31, 12);
const at = (hours: number) => new Date(START_MS + hours * 3_600_000);
const run = (failures: number, firstH: number, lastH: number): Run => ({
  failures,
  firstFailedAt: at(firstH),
  lastFailedAt: at(lastH),
  lastOutcome: 'resposta_nao_2xx',
  lastStatusCode: 500,
});
const judged = (given: Partial<FailingStanding>, policy = POLICY) =>
  judge({ isJudged: true, failingSince: null, run: null, ...given }, policy);

test.each<[string, Partial<FailingStanding>, ReturnType<typeof judge>]>([
  ['becomes falhando with enough failures over enough hours', { run: run(5, 0, 6) }, 'falhando'],
  ['becomes falhando with more of both', { run: run(50, 0, 60) }, 'falhando'],
  ['does not with one failure too few', { run: run(4, 0, 60) }, null],
  ['does not while the first and the last are a second too close', { run: run(50, 0, 6 - 1 / 3_600) }, null],
  ['does not while it is not judged', { run: run(90, 0, 600), isJudged: false }, null],
  ['does so long before it is suspended, however long ago its first failure was', { run: run(9, 0, 900) }, 'falhando'],
  ['stays so while it fails on', { failingSince: at(6), run: run(6, 0, 7) }, null],
  ['is so no more after a success', { failingSince: at(6) }, 'fim_da_falha'],
  [
    'is so no more after a success that a failure has followed',
    { failingSince: at(6), run: run(9, 7, 900) },
    'fim_da_falha',
  ],
  [
    'is so no more when it is not judged',
    { failingSince: at(6), run: run(9, 0, 900), isJudged: false },
    'fim_da_falha',
  ],
  ['is suspended by a failure three days later', { failingSince: at(6), run: run(6, 0, 6 + 72) }, 'suspensao'],
  ['is not by one that comes a second earlier', { failingSince: at(6), run: run(6, 0, 6 + 72 - 1 / 3_600) }, null],
])('a webhook %s', (_, given, change) => {
  expect(judged(given)).toBe(change);
});

test('nothing is suspended where no days are set', () => {
  const policy = { ...POLICY, suspendAfterDays: null };
  expect(judged({ failingSince: at(6), run: run(6, 0, 10_000) }, policy)).toBeNull();
  expect(whenSuspended(at(6), policy)).toBeNull();
});

describe('a notice', () => {
  const reported = {
    webhookId: '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5b',
    partnerId: '019a6e0b-7f3c-7d52-9a41-5c1d2e3f4a5c',
    url: 'https://receiver.example:8443/hooks/t0ken?key=hunter2',
    run: run(5, 0, 6),
    failingSince: at(6),
    at: at(6),
    isJudged: true,
    policy: POLICY,
  };

  test('fits its schema, in the order of its keys, and tells of the URL no more than the host', () => {
    for (const change of ['falhando', 'suspensao'] as const) {
      const notice = noticeOf(change, reported);
      if (notice === null) throw new Error('there is no notice');
      const parsed = EVENTS[notice.name].data.parse(notice.data);
      expect(Object.keys(parsed)).toEqual(Object.keys(notice.data));
      expect(notice.data).toMatchObject({ host: 'receiver.example:8443', falhas: 5, ultimo_status_http: 500 });
      expect(`${JSON.stringify(notice)} ${reasonOf(change, reported)}`).not.toMatch(/\/hooks|t0ken|hunter2/);
    }
  });

  test('says when the webhook will be suspended, or that it will not', () => {
    expect(noticeOf('falhando', reported)?.data).toMatchObject({ suspende_em: at(6 + 72).toISOString() });
    const mild = { ...reported, policy: { ...POLICY, suspendAfterDays: null } };
    expect(noticeOf('falhando', mild)?.data).toMatchObject({ suspende_em: null });
  });

  test('is not made of the end of falhando', () => {
    expect(noticeOf('fim_da_falha', reported)).toBeNull();
  });
});
