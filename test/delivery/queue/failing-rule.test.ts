import { describe, expect, test } from 'vitest';
import { noticeOf, reasonOf } from '../../../src/delivery/queue/upkeep/failing-notice.ts';
import {
  type FailingPolicy,
  judge,
  type Run,
  type FailingStanding,
  whenSuspended,
} from '../../../src/delivery/queue/upkeep/failing-rule.ts';
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
const standing = (given: Partial<FailingStanding>): FailingStanding => ({
  isJudged: true,
  failingSince: null,
  run: null,
  news: { hasDelivered: false, fresh: null },
  ...given,
});
const fresh = (one: Run | null, hasDelivered = false) => ({ hasDelivered, fresh: one });

describe('a webhook becomes falhando', () => {
  test.each([
    ['with enough failures over enough hours', 5, 6, 'falhando'],
    ['with more of both', 50, 60, 'falhando'],
    ['not with one failure too few', 4, 60, null],
    ['not while the first and the last are a second too close', 50, 6 - 1 / 3_600, null],
  ])('%s', (_, failures, hours, change) => {
    expect(judge(standing({ news: fresh(run(failures, 0, hours)) }), POLICY).change).toBe(change);
  });

  test('by failures of several looks, which may come in another order than they ended', () => {
    const first = judge(standing({ run: run(2, 3, 4), news: fresh(run(2, 0, 1)) }), POLICY);
    expect(first).toEqual({ run: run(4, 0, 4), change: null });
    const second = judge(standing({ run: first.run, news: fresh(run(1, 6, 6)) }), POLICY);
    expect(second).toEqual({ run: run(5, 0, 6), change: 'falhando' });
  });

  test('not when a success came in between: its run begins after that', () => {
    const verdict = judge(standing({ run: run(4, 0, 5), news: fresh(run(1, 6, 6), true) }), POLICY);
    expect(verdict).toEqual({ run: run(1, 6, 6), change: null });
  });

  test('once: it stays so while it fails on', () => {
    const verdict = judge(standing({ failingSince: at(6), run: run(5, 0, 6), news: fresh(run(1, 7, 7)) }), POLICY);
    expect(verdict).toEqual({ run: run(6, 0, 7), change: null });
  });
});

describe('falhando ends', () => {
  test('with a success, even when the next attempt has failed already', () => {
    const one = { failingSince: at(6), run: run(5, 0, 6) };
    expect(judge(standing({ ...one, news: fresh(null, true) }), POLICY)).toEqual({ run: null, change: 'fim_da_falha' });
    expect(judge(standing({ ...one, news: fresh(run(1, 8, 8), true) }), POLICY)).toEqual({
      run: run(1, 8, 8),
      change: 'fim_da_falha',
    });
  });

  test('without a verdict while the webhook is not judged, and what was counted is forgotten', () => {
    const one = { run: run(90, 0, 600), news: fresh(run(1, 700, 700)), isJudged: false };
    expect(judge(standing(one), POLICY)).toEqual({ run: null, change: null });
    expect(judge(standing({ ...one, failingSince: at(6) }), POLICY)).toEqual({ run: null, change: 'fim_da_falha' });
  });
});

test('a falhando webhook without a run is not suspended by one failure: its state ends, and it counts from there', () => {
  const one = { failingSince: at(0), run: null };
  expect(judge(standing(one), POLICY)).toEqual({ run: null, change: 'fim_da_falha' });
  const news = fresh(run(1, 900, 900));
  expect(judge(standing({ ...one, news }), POLICY)).toEqual({ run: run(1, 900, 900), change: 'fim_da_falha' });
});

describe('a webhook is suspended', () => {
  const failing = { failingSince: at(6), run: run(5, 0, 6) };

  test.each([
    ['by a failure that comes three days after it became falhando', 6 + 72, 'suspensao'],
    ['not by one that comes a second earlier', 6 + 72 - 1 / 3_600, null],
  ])('%s', (_, hour, change) => {
    const verdict = judge(standing({ ...failing, news: fresh(run(1, hour, hour)) }), POLICY);
    expect(verdict).toEqual({ run: run(6, 0, hour), change });
  });

  test('never by the time alone, nor where no days are set', () => {
    expect(judge(standing(failing), POLICY).change).toBeNull();
    const news = fresh(run(1, 10_000, 10_000));
    expect(judge(standing({ ...failing, news }), { ...POLICY, suspendAfterDays: null }).change).toBeNull();
    expect(whenSuspended(at(6), { ...POLICY, suspendAfterDays: null })).toBeNull();
  });

  test('days after its notice, however long ago its first failure was', () => {
    expect(judge(standing({ run: run(9, 0, 900), news: fresh(run(1, 901, 901)) }), POLICY).change).toBe('falhando');
  });
});

describe('a notice', () => {
  const told = {
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
      const notice = noticeOf(change, told);
      if (notice === null) throw new Error('there is no notice');
      const parsed = EVENTS[notice.name].data.parse(notice.data);
      expect(Object.keys(parsed)).toEqual(Object.keys(notice.data));
      expect(notice.data).toMatchObject({ host: 'receiver.example:8443', falhas: 5, ultimo_status_http: 500 });
      expect(`${JSON.stringify(notice)} ${reasonOf(change, told)}`).not.toMatch(/\/hooks|t0ken|hunter2/);
    }
  });

  test('says when the webhook will be suspended, or that it will not', () => {
    expect(noticeOf('falhando', told)?.data).toMatchObject({ suspende_em: at(6 + 72).toISOString() });
    const mild = { ...told, policy: { ...POLICY, suspendAfterDays: null } };
    expect(noticeOf('falhando', mild)?.data).toMatchObject({ suspende_em: null });
  });

  test('is not made of the end of falhando', () => {
    expect(noticeOf('fim_da_falha', told)).toBeNull();
  });
});
