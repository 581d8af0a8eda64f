/** The leaves that are made of the bytes of a file's columns are those of its rows as values. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { commitmentsOf } from '../../src/archive/commitments.ts';
import { hashFiles } from '../../src/archive/hashing/hash-files.ts';
import { levelAbove, rootOf, sha256 } from '../../src/audit/seals/tree/merkle.ts';
import { hexOf, type Row } from '../../src/db/binary-record.ts';
import { filesOf, leavesByRows, nothing } from '../support/part-files.ts';
import { createRandom } from '../support/random.ts';

const { next } = createRandom(7);
const below = (count: number) => Math.floor(next() * count);
const maybe = <T>(value: T): T | null => (next() < 0.2 ? null : value);
const US = 1_000n;
const instant = () => BigInt(below(2 ** 31)) * 1_000n * US - BigInt(below(2 ** 45));
const snapshot = () => [`${below(999)}:1234567890123:`, `7:9:8,${below(9)}`, '1:1:'][below(3)];

/** More than a group of rows. */
const ROWS = 17_000;
const ids = Array.from({ length: ROWS }, () => randomBytes(16));
const streams = Array.from({ length: 50 }, () => randomBytes(16));
const [webhook, partner] = [randomBytes(16), randomBytes(16)];
const events: Row[] = ids.map((id, at) => ({
  ...nothing('events'),
  position: BigInt(at) * 2n ** 40n - 3n,
  id,
  stream: streams[below(50)],
  version: below(2 ** 31),
  type: `t${below(3)}`,
  family: 'backoffice',
  partner_id: partner,
  occurred_at: instant(),
  actor: maybe('ação'),
  fan_out: maybe(1),
  imported: maybe(next() < 0.5),
  snapshot: maybe(snapshot()),
  tx: BigInt(at) + 2n ** 33n,
  epoch: -1,
  ...(at % 7 === 0
    ? { commitment: randomBytes(32) }
    : {
        salt: randomBytes(16),
        body: 'é'.repeat(below(400)),
      }),
}));
const hashes = commitmentsOf(events);
const attempts: Row[] = ids.map((id, at) => ({
  ...nothing('attempts'),
  delivery_id: id,
  number: 1,
  late: false,
  event_id: at % 9 === 0 ? null : id,
  webhook_id: webhook,
  partner_id: partner,
  outcome: at % 5 === 0 ? 'erro_conexao' : 'entregue',
  status_code: maybe(-below(32768)),
  recorded_at: instant(),
  body_digest: [hashes.get(hexOf(id)), randomBytes(32), null][below(3)],
  answer: maybe('ok'),
  salt: randomBytes(16),
  tx: 2n ** 33n + BigInt(below(ROWS)),
  epoch: -1,
}));
const deliveries: Row[] = ids.map((id, at) => ({
  ...nothing('deliveries'),
  id,
  event_id: at % 9 === 0 ? randomBytes(16) : id,
  webhook_id: webhook,
  partner_id: at === 10 ? webhook : partner,
  attempts: at === 11 ? 2 : 1,
  status: at % 5 === 0 && at !== 20 ? 'erro' : 'entregue',
}));
const pages: Row[] = [
  {
    ...nothing('erasure_pages'),
    position: 1n,
    order_id: partner,
    number: 1,
    event_ids: [hexOf(webhook)],
    tx: 2n ** 34n,
    epoch: 0,
  },
];

test('nulls, pages, dictionaries, texts, numbers below zero, snapshots and digests that were left out give the same leaves', async () => {
  const files = filesOf({ events, attempts, erasure_pages: pages, deliveries });
  const ends = [2 ** 33 + 5_000, 2 ** 33 + 9_000, 2 ** 35];
  const found = await hashFiles(files, ends);
  const expected = await Promise.all(ends.map(async (end, index) => leavesByRows(files, ends[index - 1], end)));
  expect(found.counts).toEqual(expected.map((leaves) => leaves.length / 32));
  expect(sha256(found.hashes)).toEqual(sha256(Buffer.concat(expected)));
  expect(found.roots).toEqual(Buffer.concat(expected.map((leaves) => rootOf(levelAbove(leaves)))));
  expect([found.streams.length / 16, found.kinds.filter((kind) => kind >= 0).length]).toEqual([50, ROWS]);
  const columns = ids.map((id) => found.unexpected.get(hexOf(id)));
  expect(columns.filter((_, at) => at % 9 === 0)).toEqual(Array(Math.ceil(ROWS / 9)).fill('event_id'));
  expect([columns[10], columns[20], found.unexpected.size]).toEqual(['partner_id', 'status', 2 + Math.ceil(ROWS / 9)]);
});
