/** What must be true of a delivery after every step. Each function returns what is broken, or null. */
import { type Life, type Status } from './delivery-model.ts';
import { SLOTS } from '../../src/contract/schedule.ts';

/** A POST that may have left, as the poller that sent it knows it. */
export interface Post {
  readonly number: number;
  readonly sentAt: number;
  /** At the latest its deadline. */
  endedAt: number;
}

export interface Witnessed {
  readonly before: Life;
  readonly after: Life;
  readonly posts: readonly Post[];
  /** Failures booked for lost attempts, which have no row of their own. */
  readonly booked: number;
}

type Invariant = (seen: Witnessed) => boolean;

const NEXT: Readonly<Record<Status, readonly Status[]>> = {
  pendente: ['pendente', 'entregue', 'erro', 'suspensa'],
  entregue: ['entregue'],
  erro: ['erro', 'entregue'],
  suspensa: ['suspensa', 'entregue'],
};

const INVARIANTS: Readonly<Record<string, Invariant>> = {
  'at most six failures': ({ after }) => after.failures >= 0 && after.failures <= SLOTS,
  'erro is six failures, and six failures are erro unless a late 2xx came': ({ after }) =>
    after.status === 'erro' ? after.failures === SLOTS : after.failures < SLOTS || after.status === 'entregue',
  'fewer than five lost in a row': ({ after }) => after.lostInRow >= 0 && after.lostInRow < 5,
  'due exactly while pending': ({ after }) => (after.status === 'pendente') === (after.dueAt !== null),
  'claimed only while pending, and after it was due': ({ after }) =>
    after.claim === null
      ? after.claimedAt === null
      : after.status === 'pendente' && after.claimedAt !== null && (after.dueAt ?? Infinity) <= after.claimedAt,
  'an end is an end, but for a late 2xx': ({ before, after }) => NEXT[before.status].includes(after.status),
  'a 2xx wins, whenever it is reported': ({ after }) =>
    after.rows.some((row) => row.outcome === 'entregue') === (after.status === 'entregue'),
  'rows are never changed or taken away': ({ before, after }) =>
    before.rows.every((row, index) => after.rows[index] === row),
  'one row for each number and lateness': ({ after: { rows } }) =>
    new Set(rows.map((row) => row.number * 2 + Number(row.late))).size === rows.length,
  'every attempt has a row, or is under way': ({ after }) =>
    after.attempts === after.rows.filter((row) => !row.late).length + Number(after.claim !== null),
  'every POST has a row, or its claim': ({ after, posts }) =>
    posts.every(({ number }) => after.rows.some((row) => row.number === number) || number === after.attempts),
  'failures are those of the rows, and the booked ones': ({ after, booked }) =>
    after.failures ===
    booked + after.rows.filter((row) => !row.late && !['entregue', 'desconhecido'].includes(row.outcome)).length,
  'never two POSTs in the air': ({ posts }) => {
    const [last, one] = [posts.at(-1), posts.at(-2)];
    return !last || !one || last.sentAt >= one.endedAt;
  },
};

/** The name of the first invariant that does not hold, or null. */
export function firstBroken(seen: Witnessed): string | null {
  for (const [name, holds] of Object.entries(INVARIANTS)) if (!holds(seen)) return name;
  return null;
}
