/** Mutants of the order of loans. */
import { readMutants } from './read-mutants.ts';

export const LOAN_ORDER_MUTANTS = readMutants(String.raw`
find_due.sql: a claim takes what was not judged
- and (not l.in_order or d.id = any (allowed))
order of loans: two of a loan in flight|taken before its turn

claim_due.sql: a lane in order is not asked whether it is
- if is_any_in_order then
+ if false then
order of loans: wait for ever

first_ahead.sql: an earlier delivery of the loan that is not in flight holds nobody back
-     and (e.version < behind or o.claimed_at is not null)
-
+     and o.claimed_at is not null
+
order of loans: taken before its turn

first_ahead.sql: a later delivery in flight does not hold back one that is sent again
-     and (e.version < behind or o.claimed_at is not null)
-
+     and e.version < behind
+
order of loans: two of a loan in flight

hold_back.sql: who is waited for is not marked
- case when c.is_awaited then true else d.awaited end
+ d.awaited
order of loans: wait for ever

release_next_of_loan.sql: the mark is not handed on
- set next_attempt_at = now(), awaited = true
+ set next_attempt_at = now()
order of loans: wait for ever

release_next_of_loan.sql: nobody looks at the lane of what was made due
- insert into arrivals (webhook_id, partner_id, kind, due_at) values (new.webhook_id, new.partner_id, 'due', now());
loans of four pollers: wait for ever

release_next_of_loan.sql: the end of a claim alone wakes nobody
- or old.claimed_by is not null and new.claimed_by is null))
+ ))
resent beside a later one: waits for ever

release_next_of_loan.sql: a suspended delivery leaves those behind it waiting
- if new.status = 'suspensa' then
+ if new.status = 'suspensa' then return null; end if; if false then
suspended in part: wait for ever

first_ahead.sql: one that is being resumed holds nobody back
- (o.status = 'pendente' or is_resuming and o.status = 'suspensa')
+ o.status = 'pendente'
resumed in batches: taken before its turn

partner/activation.ts: the first batch of a resumption counts as its end
- rows.length === RESUMED_AT_ONCE || 
resumed in batches: taken before its turn

due_in_order.sql: one that is suspended for good holds back its loan
- coalesce(l.resumes_until > moment, false) as is_resuming
+ true as is_resuming
order of loans: wait for ever

hold_back.sql: one that is put off for a resumption waits to be woken
- least(moment + interval '30 seconds', due.resumes_until)
+ 'infinity'::timestamptz
resumed no more: waits for ever

partner/activation.ts: the last batch of a resumption leaves put off what was behind it
- update deliveries set next_attempt_at = now()
-
+ update deliveries set next_attempt_at = next_attempt_at
+
resumed in batches: put off for longer

partner/activation.ts: a deactivation leaves the resumption under way
-   await endResumption(tx, webhookId);
-   await insertArrivals
+   await insertArrivals
resumed no more: put off behind what nobody resumes

hold_back.sql: one is held back by a delivery that a record is just ending
- for no key update skip locked
loan beside a record: wait for ever
`);
