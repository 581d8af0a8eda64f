/**
 * Named mutants: each breaks one safety rule of the engine in what a check loads. An entry has the file (in src/delivery, or in
 * drizzle/functions) and the mutant's name; the text that it takes out, which must be there exactly once, and what it puts there;
 * the check that must catch it, and what the check says of it. Those of what a poller knows from memory are in keepers.test.ts.
 */
import { readMutants } from './read-mutants.ts';

export const MUTANTS = readMutants(String.raw`
queue/record.ts: the fence is removed: a stale failure moves the delivery
- where d.ctid = r.place and d.attempts = r.number - 1 and d.status = 'pendente'
+ where d.ctid = r.place
differential: record: |deliveries_sound

queue/record.ts: what is over stays pending
- and p.due_at = m.due_at and p.delivery_id = m.id
+ and p.due_at = m.due_at and p.delivery_id = m.id and m.status = 'pendente'
differential: rows pending

queue/record.ts: what is tried again is pending no more
- from moved where status = 'pendente'
+ from moved where false
differential: rows pending

queue/record.ts: what is tried again is pending at the time before
- select next_attempt_at, null, number, webhook_id, id
+ select coalesce(nullif(due_at, '-infinity'), next_attempt_at - interval '1 second'), null, number, webhook_id, id
differential: is pending at another time

lease.sql: a lease is shorter than the deadline
- {{LEASE_S}}
+ 25
differential: not due|over the cap|claim is|attempts is

next_slot.sql: the schedule is off by one
- [delivery.failures + 1]
+ [delivery.failures + 2]
differential: next_attempt_at|deliveries_sound

queue/record.ts: the schedule counts from the start of the attempt
- then next_slot(d, r.ended_at) end,
+ then next_slot(d, r.started_at) end,
differential: next_attempt_at

queue/record.ts: a late 2xx is dropped
- status <> 'entregue'\`
+ status = 'nunca'\`
differential: status is \w+, must be entregue

queue/record.ts: a late 2xx forgets the attempt under way
- await logLostAttempts(tx, delivered);
differential: attempt rows|claim is|attempts is

queue/record.ts: a repeated flush is taken for a late report
- and written.outcome <> 'desconhecido'
+ and false
differential: taken for late|attempt rows

queue/record.ts: an outcome does not end the row of lost attempts
- lost_in_row = null,
-           next_attempt_at
+ next_attempt_at
differential: lost_in_row|deliveries_sound

poll_lanes.sql: what commits after the snapshot that was told is passed over
- select p.ctid, p.* from pending p where p.tx = any (running)
+ select p.ctid, p.* from pending p where false
late commits: passed over

poll_lanes.sql: what is new and somebody has locked is passed over
- where n.delivery_id <> all (array(select d.delivery_id from due d))
+ where false
late commits: passed over

wait_for_work.sql: a look does not see what began before the snapshot
-  or running <> '{}' and exists (select from pending where tx = any (running))
late commits: passed over

poll_lanes.sql: a delivery is claimed before it is due
- p.due_at <= least(l.to_due, moment)
+ p.due_at <= least(l.to_due, moment + interval '1 hour')
differential: not due

poll_lanes.sql: a turn takes what flies already
-           and p.delivery_id <> all (flying)
-         order by p.due_at, p.delivery_id
-         limit l.room
+         order by p.due_at, p.delivery_id
+         limit l.room
differential: not due|over the cap|sent and must not

queue/keepers.ts: a keeper does not learn what its lanes have in flight
- coalesce(f.all, '[]') as flying
+ '[]'::json as flying
differential: not due|over the cap|sent and must not

flights.sql: what is recorded is in flight still
- and d.attempts = each.number - 1 and d.status = 'pendente' limit 1
+ limit 1
differential: claim is|attempts is|left behind|behind

keep_pending.sql: what becomes due again is not pending
- if new.status = 'pendente' then
+ if false then
differential: rows pending

keep_pending.sql: what is suspended stays pending
- if old.status = 'pendente' then
+ if new.status = 'pendente' then
differential: rows pending

log_lost_attempts.sql: who ends a lost claim writes no row for its attempt
- from flying f join deliveries d on d.id = f.delivery_id
-     on conflict
+ from flying f join deliveries d on d.id = f.delivery_id where false
+     on conflict
differential: attempt rows

queue/rescuer.ts: a claim is ended before its lease is over
- now()) - lease() limit
+ now()) - 0 * lease() limit
lost claim found twice: within its lease

end_lost.sql: a claim that a record is ending is ended as lost
- order by id for update skip locked);
+ order by id for update);
lost claim beside a record: lock timeout

end_lost.sql: a failure booked for lost attempts is due later than its slot
- when o.is_spent then o.next_slot else
+ when o.is_spent then o.next_slot + interval '1 hour' else
booked failure: not tried again

end_lost.sql: lost attempts are never counted
- else coalesce(d.lost_in_row, 0) + 1 end
+ else d.lost_in_row end
differential: lost_in_row|deliveries_sound

end_lost.sql: the sixth lost attempt books the failure instead of the fifth
- + 1 >= 5 as is_spent
+ + 1 >= 6 as is_spent
only losses: sent and must not|lost_in_row|deliveries_sound

end_lost.sql: booked failures never end in erro
- status = case when o.is_spent and o.next_slot is null then 'erro' else 'pendente' end
+ status = 'pendente'
only losses: deliveries_|status

queue/lanes/kept-lane.ts: the window is not kept
- return Math.max(cap - flying.size, 0);
+ return 1_000;
differential: over the cap

queue/lanes/kept-lane.ts: a deactivated webhook is still sent to
- !isActive || isMuted
+ isMuted
deactivated: sent to a deactivated

queue/keepers.ts: a webhook of a deactivated partner is still sent to
- w.active and p.active as "isActive"
+ w.active as "isActive"
deactivated partner: sent to a deactivated

queue/orders/suspend.ts: what an append adds to a deactivated partner is never suspended
- and not (w.active and p.active)
+ and not w.active
deactivated partner: not suspended by the claim

suspend_partner.sql: the deactivation of a partner leaves what is pending to the claims
- when (old.active <> new.active)
+ when (false)
deactivated partner: not suspended by the deactivation

poll_lanes.sql: a claim does not hold the lanes that it serves
- for update of l skip locked
-     ),
-     due
+ ),
+     due
- for update skip locked
-     ),
-     lane
+ ),
+     lane
partner beside a claim: may commit after

queue/claim.ts: a new secret signs before its time
- const isLater = settings.signsFrom !== null && settings.signsFrom > claimedAt;
+ const isLater = false;
waiting secret: signed by new,

queue/claim.ts: the secret before is told twice while the new one waits
- const signsBeside = !isLater && settings
+ const signsBeside = settings
waiting secret: signed by old,old

queue/release.ts: a release ends the claim of whoever took over
- where c.poller = \${poller} and c.number = \${number}
+ where c.number = \${number}
stale release: was ended by a release

queue/release.ts: a claim that is over puts off what another poller holds
- where id = \${id} and status = 'pendente' and attempts = \${number} - 1\`;
-   return count
+ where id = \${id} and status = 'pendente'\`;
+   return count
stale release: was ended by a release

queue/claim.ts: a claim of unknown commit that is cleared takes others along
- where poller = \${poller} and number >=
+ where number >=
stale release: was ended by a release

queue/lease.ts: a send starts although the lease may end under it
- MIN_LEASE_LEFT_MS = (TIMES_S.response + TIMES_S.record) * 1_000
+ MIN_LEASE_LEFT_MS = TIMES_S.record * 1_000
short lease: less of the lease left

poller/poller.ts: the clock is read again for the send
- sender.send(request, startedAtMs)
+ sender.send(request)
standstill before a send: counts from after

poller/claimer.ts: a claim whose commit is unknown is forgotten
- this.#doubtful.push({ number, startedAtMs, triedAtMs: -Infinity });
unknown commit: named by two claims

poller/claimer.ts: a claim that has not committed yet is forgotten
- const isOver = count > 0 || triedAtMs - claim.startedAtMs > LEASE_S * 1_000;
+ const isOver = true;
late commit of a claim: named by two claims

poller/recorder.ts: a report is dropped when the database is away
- if (!isUnavailable(error) && !isContention(error)) throw error;
+ throw error;
outage: dropped|attempt rows|not entregue
`);
