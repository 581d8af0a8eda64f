/** Mutants of the policy for failing endpoints. */
import { readMutants } from './read-mutants.ts';

export const FAILING_MUTANTS = readMutants(String.raw`
queue/keepers.ts: a falhando webhook keeps its window
- m.failing_since is not null or w.refusals is not null as "isSingle"
+ w.refusals is not null as "isSingle"
failing webhook: of a falhando webhook are in flight

queue/maintenance/failing-runs.ts: a failure takes the place of those before
- set failures = known.failures + excluded.failures,
+ set failures = excluded.failures,
failing webhook: of 4 failures 2 were counted

queue/maintenance/failing-runs.ts: what is counted begins with the last failure
- least(known.first_failed_at, excluded.first_failed_at)
+ excluded.first_failed_at
failing webhook: of a falhando webhook are in flight

queue/maintenance/failing-runs.ts: a success leaves the run
- delivered.add(webhookId);
failing webhook: still probed

queue/maintenance/failing.ts: a look with changes still to come is over
- if (!hasMore) await endCheck(tx);
+ await endCheck(tx);
failing in steps: 2 that answer well are still falhando

make_notice.sql: a failing webhook is told of itself
-  and w.id <> p_webhook_id
failing webhook: is told of itself

queue/maintenance/failing-rule.ts: a good answer does not end falhando
- if (!isJudged || run === null || run.firstFailedAt > failingSince) return 'fim_da_falha';
+ if (!isJudged || run === null) return !isJudged ? 'fim_da_falha' : null;
failing webhook: still probed
`);
