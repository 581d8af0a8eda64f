/** Mutants of the policy for failing endpoints. */
import { readMutants } from './read-mutants.ts';

export const FAILING_MUTANTS = readMutants(String.raw`
queue/keepers.ts: a falhando webhook keeps its window
- m.failing_since is not null or w.refusals is not null as "isSingle"
+ w.refusals is not null as "isSingle"
failing webhook: of a falhando webhook are in flight

queue/upkeep/failing-runs.ts: a look begins where the last one began
- epoch = \${span.epoch}::text::smallint, snapshot = \${span.snapshot}::text::pg_snapshot, looked_at
+ looked_at
failing webhook: of 4 failures \d+ were counted

queue/upkeep/failing-runs.ts: a look misses a failure whose record commits late
- then not pg_visible_in_snapshot(a.tx, \${lastSnapshot}::text::pg_snapshot)
+ then a.tx >= pg_snapshot_xmax(\${lastSnapshot}::text::pg_snapshot)
failing beside a record: of 2 failures 1 were counted

queue/upkeep/failing.ts: a look with ends still to come moves the cursor
- const ended = ends.slice(0, endsAtOnce);
+ const ended = ends.slice(0, endsAtOnce);
+       await endLook(tx, policy, span, []);
failing in steps: 2 that answer well are still falhando

queue/upkeep/failing-rule.ts: a look forgets the failures of the one before
- failures: run.failures + fresh.failures
+ failures: fresh.failures
failing webhook: of 4 failures 2 were counted

make_notice.sql: a failing webhook is told of itself
-  and w.id <> p_webhook_id
failing webhook: is told of itself

queue/upkeep/failing-rule.ts: a good answer does not end falhando
- const isOver = !isJudged || news.hasDelivered || run === null;
+ const isOver = !isJudged;
failing webhook: still probed
`);
