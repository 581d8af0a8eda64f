/** Mutants of the policy for failing endpoints. */
import type { Mutant } from './mutants.ts';

export const FAILING_MUTANTS: readonly Mutant[] = [
  {
    name: 'a falhando webhook keeps its window',
    file: 'state_of_lane.sql',
    find: 'case when l.failing_since is not null then 1 end',
    put: 'null::int',
    check: 'failing webhook',
    finds: /of a falhando webhook are in flight/,
  },
  {
    name: 'a look begins where the last one began',
    file: 'queue/upkeep/failing-runs.ts',
    find: 'epoch = ${span.epoch}::text::smallint, snapshot = ${span.snapshot}::text::pg_snapshot, looked_at',
    put: 'looked_at',
    check: 'failing webhook',
    finds: /of 4 failures \d+ were counted/,
  },
  {
    name: 'a look misses a failure whose record commits late',
    file: 'queue/upkeep/failing-runs.ts',
    find: 'then not pg_visible_in_snapshot(a.tx, ${lastSnapshot}::text::pg_snapshot)',
    put: 'then a.tx >= pg_snapshot_xmax(${lastSnapshot}::text::pg_snapshot)',
    check: 'failing beside a record',
    finds: /of 2 failures 1 were counted/,
  },
  {
    name: 'a look with ends still to come moves the cursor',
    file: 'queue/upkeep/failing.ts',
    find: 'const ended = ends.slice(0, endsAtOnce);',
    put: `const ended = ends.slice(0, endsAtOnce);
      await endLook(tx, policy, span, []);`,
    check: 'failing in steps',
    finds: /2 that answer well are still falhando/,
  },
  {
    name: 'a look forgets the failures of the one before',
    file: 'queue/upkeep/failing-rule.ts',
    find: 'failures: run.failures + fresh.failures',
    put: 'failures: fresh.failures',
    check: 'failing webhook',
    finds: /of 4 failures 2 were counted/,
  },
  {
    name: 'a failing webhook is told of itself',
    file: 'make_notice.sql',
    find: ' and w.id <> p_webhook_id',
    put: '',
    check: 'failing webhook',
    finds: /is told of itself/,
  },
  {
    name: 'a good answer does not end falhando',
    file: 'queue/upkeep/failing-rule.ts',
    find: 'const isOver = !isJudged || news.hasDelivered || run === null;',
    put: 'const isOver = !isJudged;',
    check: 'failing webhook',
    finds: /still probed/,
  },
];
