/** Mutants of the order of loans. */
import { readMutants } from './read-mutants.ts';

export const LOAN_ORDER_MUTANTS = readMutants(String.raw`
poll_loans.sql: a claim takes what waits for another of its loan
- select distinct on (delivery_id) * from ranked where is_free and rank <= room order by delivery_id
+ select distinct on (delivery_id) * from ranked where rank <= room order by delivery_id
order of loans: two of a loan in flight|taken before its turn

poll_lanes.sql: a lane in order is not asked whether it is
- and l.keeper = p_poller and not l.changed and not l.in_order and (not l.resting
+ and l.keeper = p_poller and not l.changed and (not l.resting
loans of four pollers: two of a loan in flight|taken before its turn

poll_loans.sql: one in flight does not hold back another that is sent again
- ahead.id is null and not exists (select from busy b where b.hook = s.hook and b.loan = e.loan) as is_free
+ ahead.id is null as is_free
order of loans: two of a loan in flight

poll_loans.sql: the next of a loan is its last
- order by e.version
-       limit 1
-     ) next
+ order by e.version desc
+       limit 1
+     ) next
loans of four pollers: wait for ever

poll_loans.sql: a lane is read for less than it has, and nothing is told of the rest
- r.looked = at_once or exists (select from ranked beyond where beyond.ask = l.place and beyond.rank > l.room) as is_more
+ false as is_more
many loans at once: wait for ever

first_ahead.sql: an earlier delivery of the loan holds nobody back
- and e.version < behind and
+ and false and
order of loans: taken before its turn

first_ahead.sql: one that is being resumed holds nobody back
- (o.status = 'pendente' or is_resuming and o.status = 'suspensa')
+ o.status = 'pendente'
resumed in batches: taken before its turn

keep_pending.sql: who ends a delivery leaves its lane as it is
- where webhook_id = new.webhook_id and in_order and keeper is not null and not changed
+ where false
loans of four pollers: wait for ever

queue/keepers.ts: a keeper does not learn until when a resumption holds back loans
- m.resumes_until as "resumesUntil"
+ null::timestamptz as "resumesUntil"
resumed no more: taken before its turn

queue/keepers.ts: of what an earlier keeper has in flight the loans are not known
- where d.id = f.delivery_id and l.in_order
+ where false
resent beside a later one: two of a loan in flight|taken before its turn

partner/activation.ts: the first batch of a resumption counts as its end
- if (rows.length === RESUMED_AT_ONCE) return true;
-   await endResumption(tx, webhookId);
-   return false;
+ await endResumption(tx, webhookId);
+   return rows.length === RESUMED_AT_ONCE;
resumed in batches: taken before its turn

partner/activation.ts: a deactivation leaves the resumption under way
- export async function leaveToSuspend(tx: Tx, webhookId: string): Promise<void> {
-   await endResumption(tx, webhookId);
+ export async function leaveToSuspend(tx: Tx, webhookId: string): Promise<void> {
resumed no more: put off behind what nobody resumes
`);
