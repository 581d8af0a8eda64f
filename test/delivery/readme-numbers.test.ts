/** The numbers that `src/delivery/README.md` tells are those of the program: whoever changes one finds the other here. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Where the page tells a number, the file that has it, and how it stands there. */
const TOLD: readonly (readonly [told: string, file: string, source: string])[] = [
  ['looks every 1 to 50 ms', 'src/delivery/poller/rhythm.ts', 'NAP_MIN_MS = 0.9;\nconst NAP_MAX_MS = 50;'],
  ['look a quarter as often', 'drizzle/functions/wait_for_work.sql', 'case when keeps_watch then 1 else 4 end'],
  ['up to 4,000 arrivals are deleted', 'drizzle/functions/take_turn.sql', 'arrivals_a_turn constant bigint := 4000;'],
  ['for 5 ms\n   after one', 'src/delivery/poller/recorder.ts', 'GATHER_MS = 5;'],
  ['for 25 ms after any other', 'src/delivery/poller/recorder.ts', 'LAZY_MS = 25;'],
  ['once there are 128', 'src/delivery/poller/recorder.ts', 'ENOUGH = 128;'],
  ['a deadline of 30 s', 'src/contract/delivery.ts', 'response: 30,'],
  ['only while more than 31 s', 'src/contract/delivery.ts', 'record: 1,'],
  ['how long a claim holds: 45 s', 'src/contract/delivery.ts', 'lease: 45,'],
  ['| lanes | 128 at most', 'drizzle/functions/claim_due.sql', 'lanes_a_claim constant bigint := 128;'],
  ['while others wait | 8,', 'drizzle/functions/claim_due.sql', 'least_quantum constant bigint := 8;'],
  ['; 8 while an attempt', 'drizzle/functions/state_of_lane.sql', 'then 8 end'],
  ['has been in flight for 5 s', 'drizzle/functions/state_of_lane.sql', "moment - interval '5 seconds'"],
  ['of the poller | 8, or', 'drizzle/functions/partner_share.sql', 'greatest(8,'],
  ['of the poller | 8, or', 'src/delivery/queue/slots.ts', 'MANY = 8;'],
  ['or 16 for each slot', 'drizzle/functions/partner_share.sql', '16 * (free - reserve)'],
  ['or 16 for each slot', 'src/delivery/queue/slots.ts', 'SHARE_A_FREE_SLOT = 16;'],
  ['the reserve of an eighth', 'src/delivery/queue/slots.ts', 'RESERVE = 1 / 8;'],
  ['put off, by 30 s at most', 'drizzle/functions/hold_back.sql', "moment + interval '30 seconds'"],
  ['the fifth loss in a row', 'src/delivery/queue/lease.ts', 'LOST_IN_ROW_BOOKS_FAILURE = 5;'],
  ['(64 unless the operator', 'src/db/tables/delivery.ts', "integer('max_in_flight').notNull().default(64)"],
  ['It starts at 8 and never', 'src/db/tables/delivery.ts', "real('window_size').notNull().default(8)"],
  ['samples 6,000 rows', 'drizzle/storage.sql', 'set statistics 20'],
];

test.each(TOLD)('the page tells "%s" as %s has it', async (told, file, source) => {
  expect(await read('src/delivery/README.md')).toContain(told);
  expect(await read(file)).toContain(source);
});
