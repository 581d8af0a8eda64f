/** What the operators' page says of the metrics is what `/metrics` shows, and the other way round. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { sandboxOn, startServing } from '../../support/command.ts';
import { createTestDatabase } from '../../support/database.ts';
import { commitEvents, insertPartner } from '../../support/outbox.ts';
import { insertEncryptedWebhook } from '../../support/poller-process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { makeTestFolder } from '../../support/test-folder.ts';
import { metricsOfThePage } from './metric-table.ts';

const page = metricsOfThePage();
const documented = new Map(page.map((line) => [line.name, line]));
const database = await createTestDatabase();

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A histogram's samples count as its own, without `le`. */
function samplesOf(text: string): Sample[] {
  return [...text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)].map(([, sample = '', reported = '']) => {
    const name = documented.has(sample) ? sample : sample.replace(/_(bucket|sum|count)$/, '');
    const pairs = [...reported.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', value = '']) => [
      label,
      value,
    ]);
    return { name, labels: Object.fromEntries(pairs.filter(([label]) => label !== 'le')) };
  });
}

const namesOf = (text: string) => [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name ?? '');

test('the page names each metric once, with exactly its labels', () => {
  const metrics = createMetrics();
  for (const gauge of ['in_flight', 'reports_lag_seconds', 'registry_breaker_open', 'http_connections'] as const) {
    metrics.watch(gauge, () => 0);
  }
  metrics.watchDatabase(
    () => Promise.resolve(true),
    () => false,
  );
  metrics.watchReadings(() => Promise.resolve({}));
  metrics.watchPool('api', { onWait: () => undefined });
  const sorted = (lines: readonly { name: string; labels: Iterable<string> }[]) =>
    lines.map(({ name, labels }) => `${name} ${[...labels].toSorted().join(',')}`).toSorted();
  expect(sorted(page.map(({ name, labels }) => ({ name, labels: labels.keys() })))).toEqual(sorted(metrics.describe()));
});

test('what real processes show is on the page: names, labels and listed values', async () => {
  const { sql } = database;
  const [receiver, folder] = [await startReceiver(), await makeTestFolder()];
  const partnerId = await insertPartner(sql);
  await insertEncryptedWebhook(sql, partnerId, `${receiver.url}/`);
  await commitEvents(sql, partnerId, 3);
  await sql`insert into balance_verdicts (from_day, to_day, closes, differences) values ('2026-01-01', '2026-01-02', true, 0)`;
  await sql`
    insert into verify_verdicts (since, seals, rows, size, root, findings, found, finished)
    values (0, 1, 5, 1, sha256('x'), 0, '[]', true)`;
  await sql`
    insert into scheduled_jobs (name, schedule, next_at, started_at, ended_at, exit_code)
    values ('verify', '0 3 * * *', now() + interval '1 hour', now() - interval '2 minutes', now() - interval '1 minute', 0),
           ('anchor', '0 0 1 1 *', now() + interval '1 hour', null, null, null)`;
  await sql`insert into anchors (kind, place, active) values ('arquivo', ${folder.path}, true)`;
  const shown = makeAuthority().issue(['carteiro.test']);
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => path.join(folder.path, name)) as [string, string];
  await Promise.all([writeFile(cert, shown.cert), writeFile(key, shown.key)]);
  const env = sandboxOn(database.url, {
    EGRESS_CERT_FILE: cert,
    EGRESS_KEY_FILE: key,
    READ_DATABASE_URL: database.url,
    DATA_DIR: folder.path,
    ANCHOR_DIRECTORY: folder.path,
    JOB_ANCHOR: '0 0 1 1 *',
    JOB_MAINTAIN: '0 0 1 1 *',
    KEEP_MONTHS: '600',
    ARCHIVE_TO: folder.path,
  });
  const [api, poll] = await Promise.all([startServing('api', env), startServing('poll', env)]);
  await receiver.received(3);
  await fetch(`${api.url}/v1/webhooks`);
  const show = async (url: string, until: RegExp): Promise<string> => {
    for (;;) {
      const text = await (await fetch(`${url}/metrics`)).text();
      if (until.test(text)) return text;
    }
  };
  const texts = [
    await show(poll.url, /carteiro_recorded_attempts_total\{standing="current"\} 3/),
    await show(api.url, /route="\/v1\/webhooks",status="401"[^]*carteiro_processes\{role="poller",state="alive"\} 1/),
  ];
  await Promise.all([api.end('SIGTERM'), poll.end('SIGTERM'), receiver.close()]);
  await folder.remove();

  expect(texts[0]).toMatch(/^carteiro_delivery_first_attempt_seconds_count 3$/m);
  expect(texts[0]).toMatch(/^carteiro_delivery_attempt_duration_seconds_count\{outcome="entregue"\} 3$/m);
  expect(new Set(texts.flatMap(namesOf))).toEqual(new Set(documented.keys()));
  const strange = texts.flatMap(samplesOf).flatMap(({ name, labels }) => {
    const reported = documented.get(name)?.labels ?? new Map<string, null>();
    const isWhole = [...reported.keys()].toSorted().join() === Object.keys(labels).toSorted().join();
    const unlisted = Object.entries(labels).filter(([label, value]) => reported.get(label)?.has(value) === false);
    return isWhole && unlisted.length === 0 ? [] : [{ name, labels }];
  });
  expect(strange).toEqual([]);
  // Its sample wants a standby that streams: reports.db.test.ts has one, and looks at it.
  const sampled = new Set(['carteiro_reports_lag_seconds', ...texts.flatMap(samplesOf).map(({ name }) => name)]);
  const silent = [...documented.keys()].filter((name) => name.startsWith('carteiro_') && !sampled.has(name));
  expect(silent).toEqual([]);
});
