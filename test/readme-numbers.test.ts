/** The numbers that the pages tell are those of the program: who changes one of the two finds the other here. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');

/** A page may break its lines anywhere. */
const onOneLine = (text: string) => text.replaceAll(/\s+/g, ' ');

/** By room: how its page tells a number, the file that has it, and how it stands there. */
const PAGES: Readonly<Record<string, readonly (readonly [reported: string, file: string, source: string])[]>> = {
  delivery: [
    [
      'every 1 to 50 ms it looks',
      'src/delivery/poller/poll-backoff.ts',
      'MIN_POLL_INTERVAL_MS = 0.9;\nconst MAX_POLL_INTERVAL_MS = 50;',
    ],
    ['every 30 s at the next 1,000 pages', 'src/delivery/queue/maintenance/pending-page.ts', 'const BLOCKS = 1_000;'],
    ['(5,000 rows at most)', 'src/delivery/queue/maintenance/sweep.ts', 'EVERY_MS = 30_000;\nconst ROWS = 5_000;'],
    [
      'Beyond 4,000 new rows it claims none',
      'drizzle/functions/delivery/poll_lanes.sql',
      'claimed_at_once constant bigint := 4000;',
    ],
    ['claims up to 8 of a lane', 'src/delivery/queue/lanes/poll-plan.ts', 'MOST_EACH = 8;'],
    ['begins 5 ms after a report', 'src/delivery/poller/recorder.ts', 'GATHER_MS = 5;'],
    ['25 ms after any other report', 'src/delivery/poller/recorder.ts', 'LAZY_MS = 25;'],
    ['when there are 128', 'src/delivery/poller/recorder.ts', 'ENOUGH = 128;'],
    ['in the process, 5 ms at most', 'src/delivery/poller/own-records.ts', 'RECORD_MS = 5;'],
    ['a deadline of 30 s', 'src/contract/delivery.ts', 'response: 30,'],
    ['only while more than 31 s', 'src/contract/delivery.ts', 'record: 1,'],
    ['how long a claim holds: 45 s', 'src/contract/delivery.ts', 'lease: 45,'],
    ['| 128 a poll, in the order', 'src/delivery/queue/lanes/poll-plan.ts', 'LANES_PER_POLL = 128;'],
    ['quantum*) | 8,', 'src/delivery/queue/lanes/poll-plan.ts', 'MOST_EACH = 8;'],
    ['at most 8 while one', 'src/delivery/queue/window.ts', 'FIRST_WINDOW = 8;'],
    ['has been in flight for 5 s', 'src/delivery/queue/lanes/kept-lane.ts', 'LONG_MS = 5_000;'],
    ['of the poller | 8, or', 'src/delivery/queue/slots.ts', 'MANY = 8;'],
    ['or 16 × the slots', 'src/delivery/queue/slots.ts', 'SHARE_A_FREE_SLOT = 16;'],
    ['a reserve (an eighth of all)', 'src/delivery/queue/slots.ts', 'RESERVE = 1 / 8;'],
    ['judges 64 deliveries at a time', 'drizzle/functions/delivery/poll_loans.sql', 'at_once constant int := 64;'],
    ['The first four living pollers share', 'src/delivery/poller/poll-backoff.ts', 'ACTIVE_POLLERS = 4;'],
    ['It has been silent for 5 s', 'src/delivery/queue/keepers.ts', 'FROZEN_S = 5;'],
    ['the fifth loss in a row', 'drizzle/functions/delivery/end_lost.sql', '+ 1 >= 5 as is_spent'],
    ['(64 unless the operator', 'drizzle/tables/delivery.ts', "integer('max_in_flight').notNull().default(64)"],
    ['It starts at 8 and never', 'drizzle/tables/delivery.ts', "real('window_size').notNull().default(8)"],
    ['five minutes at most, should the request die', 'src/delivery/partner/activation.ts', 'RESUMPTION_S = 300;'],
    ['takes 6,000 rows instead', 'drizzle/storage.sql', 'set statistics 20'],
  ],
  audit: [
    ['the fifth in a row counts as one failure', 'src/delivery/queue/lease.ts', 'LOST_IN_ROW_BOOKS_FAILURE = 5;'],
    ['a balance has 31 days at most', 'src/contract/resources/audit-resource.ts', 'MAX_BALANCE_DAYS = 31;'],
    ['counts the last seven days every night', 'src/settings/job-schedules.ts', "'--from', addDays(dayOf(now), -7)"],
    ['seal every half minute', 'src/audit/seals/sealer.ts', 'EVERY_MS = 30_000;'],
    ['keep one an hour', 'src/settings/job-schedules.ts', "usual: '7 * * * *',\n    words: () => ['audit', 'anchor']"],
  ],
  '..': [
    ['when its lease of 45 s ends', 'src/contract/delivery.ts', 'lease: 45,'],
    ['Any 2xx within 30 s is a success', 'src/contract/delivery.ts', 'response: 30,'],
    [
      'over all pollers, fit its receiver: 8 at first',
      'drizzle/tables/delivery.ts',
      "real('window_size').notNull().default(8)",
    ],
    ['and a cap, 64 unless', 'drizzle/tables/delivery.ts', "integer('max_in_flight').notNull().default(64)"],
  ],
  '../drizzle': [
    ['waits at most 2 s for a lock', 'src/db/migrations/migrate.ts', "LOCK_TIMEOUT = '2s';"],
    [
      'again after 15 s, then after twice as long each time, 10 minutes at most',
      'src/db/migrations/migrate.ts',
      'FIRST_PAUSE_MS = 15_000;\nconst LONGEST_PAUSE_MS = 600_000;',
    ],
  ],
  '.': [
    ['holds for a lease of 45 s', 'src/contract/delivery.ts', 'lease: 45,'],
    ['Every half minute one process', 'src/audit/seals/sealer.ts', 'EVERY_MS = 30_000;'],
    ['where that has 6 GiB', 'test/support/memory-folder.ts', 'ROOM_BYTES = 6 * 1_073_741_824;'],
    ['Four workers take', 'test/vitest.config.ts', 'maxWorkers: 4,'],
    ['One time-out of 15 minutes', 'test/vitest.config.ts', 'testTimeout: 900_000,'],
  ],
  main: [
    ['kept for nine days', 'src/delivery/queue/maintenance/hour-counter.ts', "KEPT = '9 days';"],
    ['runs its job again after a minute', 'src/main/maintenance/jobs.ts', 'LEASE_S = 60;'],
    ['is tried again every ten minutes', 'src/main/maintenance/jobs.ts', 'RETRY_S = 600;'],
    ['| 400 | connections that the API', 'src/config.ts', 'MAX_CONNECTIONS: integer(1, 1_000_000).default(400)'],
    ['| `POLLER_CAPACITY` | 512 |', 'src/config.ts', 'POLLER_CAPACITY: integer(1, 5_000).default(512)'],
    ['count as that one', 'src/main/service/stop-signals.ts', 'SAME_SIGNAL_MS = 1_000;'],
    ['Signals within 1 s of the first', 'src/main/service/stop-signals.ts', 'SAME_SIGNAL_MS = 1_000;'],
    ['when their lease of 45 s ends', 'src/contract/delivery.ts', 'lease: 45,'],
    ['A drain takes 40 s at most', 'src/contract/delivery.ts', 'drain: 40,'],
    ['pollers have 15 s to return', 'src/delivery/queue/maintenance/dead-pollers.ts', 'START_GRACE_MS = 15_000;'],
    ['are taken over 105 s later at most', 'src/delivery/queue/maintenance/sweep.ts', 'EVERY_MS = 30_000;'],
    ['are taken over 105 s later at most', 'src/contract/delivery.ts', 'lease: 45,'],
    ['for up to 30 s when the receiver hangs', 'src/contract/delivery.ts', 'response: 30,'],
    ['an eighth is kept for partners', 'src/delivery/queue/slots.ts', 'RESERVE = 1 / 8;'],
    ['that hold fewer than 8', 'src/delivery/queue/slots.ts', 'MANY = 8;'],
    ['free for every 16 that it would hold', 'src/delivery/queue/slots.ts', 'SHARE_A_FREE_SLOT = 16;'],
    ['It starts at 8, grows', 'drizzle/tables/delivery.ts', "real('window_size').notNull().default(8)"],
    ['to the cap (64, or', 'drizzle/tables/delivery.ts', "integer('max_in_flight').notNull().default(64)"],
    ['With 512 slots', 'src/config.ts', 'POLLER_CAPACITY: integer(1, 5_000).default(512)'],
    ['The first four keep the lanes', 'src/delivery/poller/poll-backoff.ts', 'ACTIVE_POLLERS = 4;'],
    [
      'after 10 failed attempts in a row',
      'src/config.ts',
      "ENDPOINT_FAILING_AFTER: integerOr('off', 1, 1_000_000).default(10)",
    ],
    ['in a row over 24 hours', 'src/config.ts', 'ENDPOINT_FAILING_HOURS: integer(1, 8_760).default(24)'],
    ['suspended 5 days later', 'src/config.ts', "ENDPOINT_SUSPEND_AFTER_DAYS: integerOr('never', 1, 3_650).default(5)"],
    ['end it 5 minutes after its last look', 'src/delivery/queue/maintenance/failing.ts', 'LEFT_AFTER_S = 300;'],
    ['A poller looks every 5 s', 'src/main/maintenance/judging.ts', 'EVERY_MS = 5_000;'],
    ['changes at most 500', 'src/delivery/queue/maintenance/failing.ts', 'CHANGED_AT_ONCE = 500;'],
    [
      'limits the heap to 192 MiB and the semi-space to 8 MiB',
      'package.json',
      '--max-old-space-size=192 --max-semi-space-size=8',
    ],
    ['documents, up to 56 MiB', 'src/contract/resources/documents.ts', 'MAX_DOCUMENTS_BODY_BYTES = 56 * 1024 * 1024;'],
    [
      'Eight are read at once, two of one partner',
      'src/http/body/large-bodies.ts',
      'AT_ONCE = 8;\nconst OF_ONE_PARTNER = 2;',
    ],
    ['30 s get 503 with `Retry-After`', 'src/http/body/large-bodies.ts', 'LONGEST_WAIT_MS = 30_000;'],
    [
      'less than 64 KiB a second, loses its turn after 10 s',
      'src/http/body/large-bodies.ts',
      '{ graceMs: 10_000, bytesPerS: 64 * 1024 }',
    ],
    ['400 connections and 512 deliveries', 'src/config.ts', 'MAX_CONNECTIONS: integer(1, 1_000_000).default(400)'],
    ['their attempts, 2,000 at a time', 'src/archive/move-month.ts', 'BATCH = 2_000;'],
    ['looked at again after 5 s', 'src/db/reports.ts', 'REST_MS = 5_000;'],
    ['more than 60 s behind', 'src/audit/seals/where-to-verify.ts', 'MAX_LAG_S = 60;'],
    ["4 s for a poller's deliveries", 'src/contract/delivery.ts', 'statement: 4,'],
  ],
  'main/operations': [
    ['`METRICS_PORT` (9464)', 'src/config.ts', 'POLLER_METRICS_PORT = 9464'],
    ['(10,000 deliveries of a kind', 'src/main/operations/measure-queue.ts', 'COUNTED = 10_000;'],
    ['a kind, 1,000 lanes)', 'src/main/operations/measure-queue.ts', 'LANES = 1_000;'],
    ['100 at most', 'src/main/operations/measure-installation.ts', 'SHOWN = 100;'],
  ],
  'main/deploy': [
    ['All wait 60 s', 'src/main/deploy/compose.yaml', 'stop_grace_period: 60s'],
    ['All wait 60 s', 'src/main/deploy/kubernetes/api.yaml', 'terminationGracePeriodSeconds: 60'],
    ['All wait 60 s', 'src/main/deploy/systemd/carteiro-poll@.service', 'TimeoutStopSec=60'],
    ['the 40 s that a drain may take', 'src/contract/delivery.ts', 'drain: 40,'],
    ['started again after 2 s', 'src/main/deploy/systemd/carteiro-poll@.service', 'RestartSec=2'],
  ],
  admin: [
    [
      'turns up to 10,000 of its pending',
      'drizzle/functions/delivery/suspend_partner.sql',
      'at_once constant int := 10000;',
    ],
    ['1,000 in a transaction', 'src/delivery/queue/orders/suspend.ts', 'SUSPENDED_AT_ONCE = 1_000;'],
    ['Counts of deliveries end at 10,000', 'src/contract/resources/operator.ts', 'COUNTED = 10_000;'],
    ["that partner's newest 10,000", 'src/admin/failures.ts', 'MAX_SCANNED = 10_000;'],
    ['pages of 100 (`--limit`', 'src/admin/bounds.ts', 'LIST_PAGE = 100;'],
    ['50 events each', 'src/core/workers/order-erasure.ts', 'EVENTS_A_PAGE = 50;'],
    ['wait 30 s for a database', 'src/main/job-pool.ts', 'WAIT_FOR_DATABASE_MS = 30_000;'],
    ['45 s at most (the lease)', 'src/contract/delivery.ts', 'lease: 45,'],
  ],
  registry: [
    [
      'asked again after 1 s, doubled to 5 minutes',
      'src/core/loans/registration-worker.ts',
      'FIRST_PAUSE_MS = 1_000;\nconst LONGEST_PAUSE_MS = 5 * 60 * 1_000;',
    ],
    ['After five failures in a row', 'src/registry/gate.ts', 'BREAKER_FAILURES = 5;'],
    ['leave the bridge alone for 30 s', 'src/registry/gate.ts', 'OPEN_MS = 30_000;'],
    ['an answer of more than 256 KiB', 'src/contract/registry-wire.ts', 'MAX_ANSWER_BYTES = 256 * 1024;'],
    ['A page of 1,000 bonds', 'src/contract/registry-wire.ts', 'MAX_BOND_PAGE = 1_000;'],
  ],
  archive: [
    ['at most 65,536 rows', 'src/archive/write-month.ts', 'PART_ROWS = 65_536;'],
    ['Rows leave by `delete`, 2,000 at a time', 'src/archive/move-month.ts', 'BATCH = 2_000;'],
  ],
  log: [
    ['it is over 64 KiB', 'drizzle/functions/append/refuse_size.sql', 'setting::int else 64 end, 1024)'],
    ['up to 1,024 KiB', 'drizzle/functions/append/refuse_size.sql', 'setting::int else 64 end, 1024)'],
    ['UTF-8, JSON, 2 MiB a line', 'src/core/history/history-lines.ts', 'MAX_LINE_BYTES = 2 * 1024 * 1024;'],
  ],
  http: [
    ['Answer any 2xx within 30 s', 'src/contract/delivery.ts', 'response: 30,'],
    [
      'tried again 1 min, 5 min, 15 min, 1 h and 6 h after',
      'src/contract/schedule.ts',
      'delaysS: [60, 300, 900, 3_600, 21_600],',
    ],
    ['after 2, 5, 15, 30 and 60 s', 'src/listen/listen.ts', 'RETRY_DELAYS_S = [2, 5, 15, 30, 60];'],
    ['shows the secret again for 60 s', 'src/webhooks/shown-secret.ts', 'REPEAT_S = 60;'],
    ['The old one signs beside it for 24 h', 'src/contract/delivery.ts', 'PREVIOUS_SECRET_H = 24;'],
    ['from a time up to 24 h ahead', 'src/contract/resources/webhook.ts', 'MAX_WAIT_H = 24;'],
    ['more than five minutes from now', 'src/http/receivers/carteiro.ts', 'TOLERANCE_S = 300;'],
    ['cut off (503) within five minutes', 'src/delivery/partner/activation.ts', 'RESUMPTION_S = 300;'],
    ['Every other alert is tried for two hours', 'src/webhooks/alert-queue.ts', 'MAX_TRIES = 8;'],
    [
      '`POST /v1/alertas/confirmacao` `{"codigo": …}` brings it back within 24 h',
      'src/contract/statuses.ts',
      'ALERT_CODE_H = 24;',
    ],
    ['the fourth attempt of a delivery has failed', 'src/contract/statuses.ts', 'LATE_AFTER = 4;'],
    ['the newest ten 2xx answers', 'src/delivery/queue/strange-answers.ts', 'STRANGE_OF = 10;'],
  ],
  painel: [
    ['longer than 3,800 characters', 'src/painel/session.ts', 'MAX_TOKEN_LENGTH = 3_800;'],
    ['good for 8 h', 'src/main/service/keys.ts', 'TTL_S = 8 * 60 * 60;'],
    ['the newest 20,000 attempts', 'src/delivery/partner/summary.ts', 'READ = 20_000;'],
    ['to answer after 5 s or not', 'src/painel/sandbox/inbox.ts', 'LATE_MS = 5_000;'],
    ['the 50 newest', 'src/painel/sandbox/inbox.ts', 'KEPT = 50;'],
    ['which end within 45 s', 'src/contract/delivery.ts', 'lease: 45,'],
    ['every 1 to 15 seconds', 'src/painel/overview/pulse.ts', 'SLOWLY_S = 15;'],
  ],
};

const ROWS = Object.entries(PAGES).flatMap(([room, rows]) => rows.map((row) => [room, ...row] as const));

test.each(ROWS)('the page of %s tells "%s" as %s has it', async (room, reported, file, source) => {
  expect(onOneLine(await read(`src/${room}/README.md`))).toContain(reported);
  expect(await read(file)).toContain(source);
});
