/** Mutants of the policy for failing endpoints. */
import type { Mutant } from './mutants.ts';

export const FAILING_MUTANTS: readonly Mutant[] = [
  {
    name: 'a falhando webhook keeps its window',
    file: 'claim_due.sql',
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
    find: 'const isOver = !isJudged || news.hasDelivered || next === null;',
    put: 'const isOver = !isJudged;',
    check: 'failing webhook',
    finds: /still probed/,
  },
];
