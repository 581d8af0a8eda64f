/**
 * Named mutants: each breaks one safety rule of the engine in what a check loads. An entry has the file (in src/delivery, or in
 * drizzle/functions) and the mutant's name; the text that it takes out, which must be there exactly once, and what it puts there;
 * the check that must catch it, and what the check says of it.
 */
import { readMutants } from './read-mutants.ts';

export const MUTANTS = readMutants(String.raw`
queue/record.ts: the fence is removed: a stale failure moves the delivery
- where d.id = r.id and d.attempts = r.number and d.claimed_by = r.claim
+ where d.id = r.id
stale failure: moved by a failure of another claim

lease.sql: a lease is shorter than the deadline
- {{LEASE_S}}
+ 25
differential: not due|over the cap|over its window

next_slot.sql: the schedule is off by one
- [delivery.failures + 1]
+ [delivery.failures + 2]
differential: next_attempt_at|deliveries_sound

queue/record.ts: the schedule counts from the start of the attempt
- then next_slot(d, r.ended_at) end
+ then next_slot(d, r.started_at) end
differential: next_attempt_at

queue/record.ts: a late 2xx is dropped
- status <> 'entregue'\`
+ status = 'nunca'\`
differential: status is \w+, must be entregue

queue/record.ts: a late 2xx forgets the attempt under way
- await logLostAttempts(tx, delivered, partnerIds);
differential: attempt rows

queue/record.ts: a repeated flush is taken for a late report
- and written.outcome <> 'desconhecido'
+ and false
differential: taken for late|attempt rows

queue/record.ts: an outcome does not end the row of lost attempts
- lost_in_row = null,
-           claimed_by
+ claimed_by
differential: lost_in_row|deliveries_sound

take_arrivals.sql: what commits after its snapshot was taken is passed over
- where tx = any (running)
+ where false
late commits: passed over

take_arrivals.sql: a full turn takes its whole snapshot for taken
- if coalesce(cardinality(next), 0) < at_most then
+ if true then
late commits: passed over

take_arrivals.sql: a full turn forgets who is still running
- where xip < last_tx
+ where false
late commits: passed over

take_arrivals.sql: who may not arm takes its snapshot for taken
-     return null;
+     perform set_config('carteiro.taken', seen::text, false);
+     return null;
late commits: passed over

take_arrivals.sql: a turn remembers what committed while it was under way
- seen::text
+ pg_current_snapshot()::text
commit beside arming: passed over

take_arrivals.sql: a full turn believes in transactions that are yet to come
- least(last_tx, pg_snapshot_xmax(seen))
+ last_tx
arrival from elsewhere: passed over

rearm_lanes.sql: a lane is not re-armed for the next retry
- else least(s.due_at, s.first_claimed_at
+ else least(null::timestamptz, s.first_claimed_at
retry: lane sleeps

rearm_lanes.sql: a lane does not know when the leases end that it has just given
- then s.first_claimed_at + lease()
+ then nullif(s.first_claimed_at, moment) + lease()
- else least(s.due_at, s.first_claimed_at + lease())
+ else least(s.due_at, nullif(s.first_claimed_at, moment) + lease())
differential: lane sleeps|lanes_saturated_wakes

rearm_lanes.sql: a lane sleeps over what was lost
- (d.claimed_at is null or d.claimed_at <= moment - lease())
+ d.claimed_at is null
lost claim found twice: not due again

queue/lost.ts: a claim is ended before its lease is over
- and claimed_at <= coalesce(\${now}::timestamptz, now()) - lease()
+ and claimed_at <= coalesce(\${now}::timestamptz, now()) - 0 * lease()
lost claim found twice: within its lease

queue/lost.ts: a claim that a record is ending is ended as lost
- for update skip locked
lost claim beside a record: lock timeout

queue/upkeep/claims-ahead.ts: a claim ahead of the clock is ended at first sight
- ?? atMs) >= LEASE_S * 1_000
+ ?? atMs) >= 0
clock set back: within their lease

queue/lost.ts: a claim ahead of the clock is ended although another one was made since
- d.id = held.id and d.claimed_by = held.claim
+ d.id = held.id
clock set back: another claim was ended

queue/lost.ts: what a claim ahead of the clock held is due when the clock has caught up
- else least(d.next_attempt_at, lost.now) end
+ else d.next_attempt_at end
clock set back: 0 of 8 lost

queue/lost.ts: a failure booked for lost attempts is due later than its slot
- then lost.next_slot else
+ then lost.next_slot + interval '1 hour' else
booked failure: not tried again

find_due.sql: what is claimed is taken from whoever has it
- and d.claimed_at is null
+ and (d.claimed_at is null or d.claimed_at <= moment - lease())
differential: sent and must not|not due|over the cap

queue/arrivals.ts: a saturated lane is not woken by a record
- as freed (id, partner_id, kind, good, bad, good_ms)\`
+ as freed (id, partner_id, kind, good, bad, good_ms) where false\`
full lane: lane sleeps

arm_lanes.sql: an arrival does not bring its lane forward
- else least(l.next_due_at, moment) end
+ else greatest(l.next_due_at, moment) end
differential: lane sleeps

arm_lanes.sql: what arrives beside a claim is not put back
- and not is_held
+ and false
arming beside a claim: lane sleeps

told_again.sql: a slot that came free beside a claim is not put back
- when has_free_slot then 'slot_free' end,
-
+ end,
+
slot beside a claim: lane sleeps

arm_lanes.sql: arming waits for a claim
- where l.ctid = newest.ctid for update skip locked
+ where l.ctid = newest.ctid for update
arming beside a claim: waits for what another session has locked

queue/upkeep/due-mark.ts: a mark takes no heed of what has begun and cannot be seen
- UNSEEN_S = 10
+ UNSEEN_S = 0
late wake: lane sleeps

queue/upkeep/due-mark.ts: a mark takes no heed of a lane that is due
- (select min(next_due_at) from lanes where next_due_at >= \${known}::text::timestamptz)
+ null
overdue lane: lane sleeps

queue/arrivals.ts: who makes a delivery due earlier wakes nobody
- if (webhookIds.length === 0) return;
+ if (webhookIds.length >= 0) return;
differential: lane sleeps

queue/lost.ts: who ends a lost claim writes no row for its attempt
- d.claimed_by
-     from deliveries d
+ d.claimed_by
+     from (select * from deliveries limit 0) d
differential: attempt rows

queue/lost.ts: lost attempts are never counted
- then null else coalesce(d.lost_in_row, 0) + 1 end
+ then null else d.lost_in_row end
differential: lost_in_row|deliveries_sound

queue/lease.ts: the sixth lost attempt books the failure instead of the fifth
- LOST_IN_ROW_BOOKS_FAILURE = 5
+ LOST_IN_ROW_BOOKS_FAILURE = 6
only losses: sent and must not|lost_in_row|deliveries_sound

queue/lost.ts: booked failures never end in erro
- status = case when lost.is_over then 'erro' else 'pendente' end
+ status = 'pendente'
only losses: deliveries_|status

find_due.sql: a delivery is claimed before it is due
- between l.scan_from and moment
+ between l.scan_from and moment + interval '1 hour'
differential: not due

state_of_lane.sql: the cap is not kept
- then cap.size - claimed.flying else
+ then cap.size else
differential: over the cap|over its window

rearm_lanes.sql: a lane’s low-water mark passes what is still claimed
- least(l.next_scan_from, s.first_due, s.due_at, moment)
+ least(l.next_scan_from, s.due_at, moment)
- least(s.first_due, s.due_at, moment)
+ least(s.due_at, moment)
differential: lane sleeps|over the cap|attempts is|over its window

rearm_lanes.sql: a lane’s high-water mark forgets what is claimed
- flying_to = s.last_due
+ flying_to = null
differential: over the cap|over its window|attempts is

arm_lanes.sql: an arrival does not lower its lane’s mark
- scan_from = case when found.looks then '-infinity' else least(l.scan_from, found.due_at) end
+ scan_from = l.scan_from
differential: lane sleeps

state_of_lane.sql: a deactivated webhook is still sent to
- case when w.active and p.active and (w.quiet_until > moment) is not true then cap
+ case when (w.quiet_until > moment) is not true then cap
deactivated: sent to a deactivated

state_of_lane.sql: a webhook of a deactivated partner is still sent to
- case when w.active and p.active and (w.quiet_until > moment) is not true then cap
+ case when w.active and (w.quiet_until > moment) is not true then cap
deactivated partner: sent to a deactivated

queue/orders/suspend.ts: what an append adds to a deactivated partner is never suspended
- and not (w.active and p.active)
+ and not w.active
deactivated partner: not suspended by the claim

suspend_partner.sql: the deactivation of a partner leaves what is pending to the claims
- when (old.active and not new.active)
+ when (false)
deactivated partner: not suspended by the deactivation

suspend_partner.sql: the deactivation of a partner does not wait for claims
- perform from lanes where webhook_id = any (hooks) and partner_id = new.id order by webhook_id for update;
partner beside a claim: may commit after

state_of_lane.sql: a new secret signs before its time
- case when w.signs_from > moment then w.previous_encrypted_secret else w.encrypted_secret end
+ w.encrypted_secret
waiting secret: signed by new,

state_of_lane.sql: the secret before is told twice while the new one waits
- case when (w.signs_from > moment) is not true and
+ case when
waiting secret: signed by old,old

queue/release.ts: a release spends the attempt’s number
- attempts = d.attempts - 1, 
differential: attempts is

queue/release.ts: a release ends the claim of whoever took over
- (\${deliveryIds as string[]}::uuid[]) and claimed_by = \${claim}
+ (\${deliveryIds as string[]}::uuid[]) and claimed_by is distinct from (\${claim} || '?') and claimed_by is not null
stale release: was ended by a release

claim_due.sql: lanes are not locked by the claim that serves them
- limit least(at_most, lanes_a_claim)
-       for update skip locked
+ limit least(at_most, lanes_a_claim)
concurrent claims: over overlapping claims|Cannot destructure

claim_due.sql: a claim counts on the snapshot on which its lanes were locked
-       select l.ctid, l.in_order
-       from lanes l
-       where l.next_due_at between due_from and moment and l.partner_id <> all (sated)
-       order by l.next_due_at
-       limit least(at_most, lanes_a_claim)
-       for update skip locked
+ select '(0,0)'::tid as ctid, false as in_order
- select * into found from find_due(places, moment, at_most, quantum, allowed, reserve, holders, held);
+ select array_agg(1::bigint) as turns, array_agg(d.id) as ids, array_agg(d.due_at) as dues, array_agg(d.partner_id) as partners,
+          null::boolean[] as are_within, array_agg(distinct d.place) as places
+   into found
+   from (
+     select (h.l).partner_id, h.place, d.id, d.next_attempt_at as due_at
+     from (
+         select l.ctid as place, l from lanes l where next_due_at between due_from and moment
+         order by next_due_at limit least(at_most, lanes_a_claim) for update skip locked
+     ) h
+     cross join lateral state_of_lane(h.l, moment) now
+     cross join lateral (
+       select d.id, d.next_attempt_at
+       from deliveries d
+       where d.webhook_id = (h.l).webhook_id and d.status = 'pendente' and d.claimed_at is null and d.next_attempt_at <= moment
+       order by d.next_attempt_at
+       limit greatest(least(now.slots, quantum), 0)
+       for update skip locked
+     ) d
+     limit at_most
+   ) d;
+   places := found.places;
claim behind a claim: 11 in flight

queue/lease.ts: a send starts although the lease may end under it
- MIN_LEASE_LEFT_MS = (TIMES_S.response + TIMES_S.record) * 1_000
+ MIN_LEASE_LEFT_MS = TIMES_S.record * 1_000
short lease: less of the lease left

poller/poller.ts: the clock is read again for the send
- sender.send(request, startedAtMs)
+ sender.send(request)
standstill before a send: counts from after

poller/claimer.ts: a claim whose commit is unknown is forgotten
- this.#doubtful.push({ ...claim, triedAtMs: -Infinity });
unknown commit: wait for the lease

poller/claimer.ts: a claim that has not committed yet is forgotten
- const isOver = count > 0 || triedAtMs - claim.startedAtMs > LEASE_S * 1_000;
+ const isOver = true;
late commit of a claim: wait for the lease

poller/recorder.ts: a report is dropped when the database is away
- if (!isUnavailable(error) && !isContention(error)) throw error;
+ throw error;
outage: dropped|attempt rows|not entregue
`);
