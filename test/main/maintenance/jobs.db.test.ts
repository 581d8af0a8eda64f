/** Jobs run by themselves: when due, by one process at a time, and by another when that one dies. */
import { once } from 'node:events';
import { setImmediate as nextTick } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { JOB_NAMES, nextAfter, type Schedules } from '../../../src/settings/job-schedules.ts';
import { measureJobs } from '../../../src/main/operations/measure-installation.ts';
import { readJobs } from '../../../src/admin/jobs.ts';
import { startBackground } from '../../../src/main/service/background.ts';
import type { ServiceDeps } from '../../../src/main/service/service.ts';
import { type Ended, runDue, runJobs } from '../../../src/main/maintenance/jobs.ts';
import { sandboxOn, startCommand } from '../../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { silentLog } from '../../support/silent-log.ts';
import { makeTestFolder } from '../../support/test-folder.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createTestDatabase()));
beforeEach(() => database.sql`delete from scheduled_jobs`);

const OFF = Object.fromEntries(JOB_NAMES.map((name) => [name, null])) as Schedules;
const NIGHTLY: Schedules = { ...OFF, verify: '0 3 * * *' };
const WELL: Ended = { exitCode: 0, result: '{}' };

function runner(ended: Ended | Promise<Ended> = WELL) {
  const ran: string[] = [];
  const run = async (words: readonly string[]) => {
    ran.push(words.join(' '));
    return ended;
  };
  return { ran, run };
}

const look = (run: (words: readonly string[], stopping: AbortSignal) => Promise<Ended>, schedules = NIGHTLY) =>
  runDue({ pool: database.pool, log: silentLog, schedules, run }, new AbortController().signal);
const makeDue = () =>
  database.sql`update scheduled_jobs set next_at = now() - interval '1 minute' where schedule is not null`;
const standing = async (name: string) => (await database.pool.run(readJobs)).find((job) => job.name === name);

test('a job runs when its time has come, once, and its next time is that of its schedule', async () => {
  const { ran, run } = runner({ exitCode: 0, result: '{"selos":3}' });
  await look(run);
  expect(ran).toEqual([]);
  await makeDue();
  await look(run);
  await look(run);
  expect(ran).toEqual(['audit verify']);
  const job = await standing('verify');
  expect(job).toMatchObject({ exitCode: 0, result: '{"selos":3}', isRunning: false, overdueS: 0 });
  expect(job?.nextAt).toEqual(nextAfter('0 3 * * *', new Date()));
  expect((await standing('balance'))?.schedule).toBeNull();
});

test('of several processes one runs it; what a dead one had begun is run by another when its lease ends', async () => {
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const [slow, other] = [runner(promise), runner()];
  await look(slow.run);
  await makeDue();
  const running = look(slow.run);
  await expect.poll(() => slow.ran).toHaveLength(1);
  await look(other.run);
  expect([other.ran, (await standing('verify'))?.isRunning]).toEqual([[], true]);
  await database.sql`update scheduled_jobs set run_by = 'dead', run_until = now() where name = 'verify'`;
  await look(other.run);
  expect(other.ran).toEqual(['audit verify']);
  // It was thought dead, and says nothing of a row that is another's.
  resolve({ exitCode: 1, result: 'late' });
  await running;
  expect(await standing('verify')).toMatchObject({ exitCode: 0, result: '{}' });
});

test('what is out of reach is tried again in ten minutes; a verdict waits for its next time', async () => {
  const inTenMinutes = async (name: string, exitCode: number, schedules: Schedules) => {
    await look(runner().run, schedules);
    await makeDue();
    await look(runner({ exitCode, result: '' }).run, schedules);
    const job = await standing(name);
    expect(job?.exitCode).toBe(exitCode);
    return ((job?.nextAt?.getTime() ?? 0) - Date.now()) / 60_000 < 11;
  };
  const inHalfAYear = `0 0 15 ${((new Date().getMonth() + 6) % 12) + 1} *`;
  const yearly = { ...OFF, verify: inHalfAYear, 'close-settlement': inHalfAYear };
  expect(await inTenMinutes('verify', 3, { ...yearly, 'close-settlement': null, anchor: null })).toBe(true);
  await database.sql`delete from scheduled_jobs`;
  expect(await inTenMinutes('verify', 1, { ...yearly, 'close-settlement': null, anchor: null })).toBe(false);
  await database.sql`delete from scheduled_jobs`;
  expect(await inTenMinutes('close-settlement', 1, { ...yearly, verify: null })).toBe(true);
});

test('a job that is wanted while it runs is run again', async () => {
  await look(runner().run);
  await makeDue();
  const want = async () => {
    await database.sql`update scheduled_jobs set next_at = clock_timestamp() where name = 'verify'`;
    return WELL;
  };
  await look(want);
  const { ran, run } = runner();
  await look(run);
  await look(run);
  expect(ran).toHaveLength(1);
});

test('a job that runs longer than it may is ended, counts as failed, and those behind it run', async () => {
  const both = { ...NIGHTLY, maintain: '30 4 * * *' };
  await look(runner().run, both);
  await makeDue();
  const ran: string[] = [];
  const run = async (words: readonly string[], stopping: AbortSignal): Promise<Ended> => {
    ran.push(words.join(' '));
    if (words[0] === 'maintain') return WELL;
    if (!stopping.aborted) await once(stopping, 'abort');
    return { exitCode: 0, result: 'cut short' };
  };
  const deps = { pool: database.pool, log: silentLog, schedules: both, run, longestMs: 50 };
  await runDue(deps, new AbortController().signal);
  expect(ran).toEqual(['audit verify', 'maintain']);
  const { exitCode, result, isRunning } = (await standing('verify')) ?? {};
  expect([exitCode, isRunning, result]).toEqual([3, false, expect.stringMatching(/^it was ended after \d+ s$/)]);
});

test('a process that stops gives its job back, and it is due still', async () => {
  await look(runner().run);
  await makeDue();
  const stopping = new AbortController();
  const run = async () => {
    stopping.abort();
    return { exitCode: 3, result: '' };
  };
  await runDue({ pool: database.pool, log: silentLog, schedules: NIGHTLY, run }, stopping.signal);
  expect(await standing('verify')).toMatchObject({ isRunning: false, exitCode: null });
  const { ran, run: again } = runner();
  await look(again);
  expect(ran).toHaveLength(1);
});

test('a process that stops lets its job end before it closes its connections, so that another may take it at once', async () => {
  await look(runner().run);
  await makeDue();
  const began = Promise.withResolvers<void>();
  const run = async (_words: readonly string[], stopping: AbortSignal) => {
    began.resolve();
    await once(stopping, 'abort');
    await nextTick();
    return { exitCode: 3, result: '' };
  };
  const part = startBackground(
    {
      config: { databasePrepare: true, databaseSchema: 'carteiro' },
      database,
      log: silentLog,
      fit: Promise.resolve(true),
    } as unknown as ServiceDeps,
    {
      name: 'jobs',
      deadlineMs: 600_000,
      work: ({ pool, log }, stopping) => runJobs({ pool, log, schedules: NIGHTLY, run }, stopping),
    },
  );
  await began.promise;
  await part.stop();
  expect(await standing('verify')).toMatchObject({ isRunning: false, exitCode: null });
});

test('the metrics tell how late, how long and how well; of a job that is off, nothing', async () => {
  await look(runner().run);
  await database.sql`update scheduled_jobs set next_at = now() - interval '2 hours' where schedule is not null`;
  expect(await database.pool.run(measureJobs)).toMatchObject({
    jobOverdue: [{ labels: { job: 'verify' }, value: expect.closeTo(7_200, -1) as number }],
    jobSucceeded: [{ labels: { job: 'verify' } }],
    jobDuration: [],
    jobExitCode: [],
  });
  await look(runner({ exitCode: 1, result: '' }).run);
  expect(await database.pool.run(measureJobs)).toMatchObject({
    jobOverdue: [{ value: 0 }],
    jobExitCode: [{ labels: { job: 'verify' }, value: 1 }],
  });
});

test('an api runs its jobs as commands of their own, with the rights of its login', async () => {
  const folder = await makeTestFolder();
  const env = sandboxOn(database.url, { DATA_DIR: folder.path, JOB_BALANCE: 'off' });
  const known = startCommand(['api'], env);
  await expect.poll(() => standing('verify')).toBeDefined();
  await known.end('SIGTERM');
  await makeDue();
  const api = startCommand(['api'], env);
  expect(await api.log(/"job":"verify"[^\n]*a job has ended/)).toMatch(/"exit_code":0/);
  expect((await api.end('SIGTERM')).code).toBe(0);
  expect(await standing('verify')).toMatchObject({
    exitCode: 0,
    result: expect.stringContaining('"achados":[],"nao_comparado":null,"confere":true') as string,
  });
  expect((await standing('sync-bonds'))?.schedule).toBeNull();
});
