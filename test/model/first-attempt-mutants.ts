/** Mutants of the short way to a first attempt. */
import { readMutants } from './read-mutants.ts';

export const FIRST_ATTEMPT_MUTANTS = readMutants(String.raw`
claim_named.sql: what arrives is claimed beyond its lane’s window
- if state.slots < cardinality(ids) then
+ if false then
differential of few lanes: over the cap|over its window

claim_named.sql: what arrives is claimed although somebody has it
-           and named.claimed_at is null
-
first attempts: another poller holds was claimed

claim_named.sql: what arrives is claimed although it is due later by now
-           and named.next_attempt_at between first_due and last_due
-
first attempts: before it is due

claim_named.sql: a lane does not know when the lease of a first attempt ends
- else least(l.next_due_at, lease_end) end
+ else l.next_due_at end
differential of few lanes: lane sleeps

claim_named.sql: a lane’s high-water mark forgets a first attempt
- flying_to = greatest(state.last_due, claim_named.last_due)
+ flying_to = state.last_due
first attempts: over its window

claim_named.sql: a lane’s low-water mark passes a first attempt
- scan_from = least(l.next_scan_from, state.first_due, claim_named.first_due, moment),
-         next_scan_from = least(state.first_due, claim_named.first_due, moment)
+ scan_from = moment, next_scan_from = moment
differential of few lanes: lane sleeps|over the cap|attempts is|over its window

serve_arrivals.sql: a first attempt fills its lane, and a free slot does not wake it
- continue when not found or lane.saturated
-
+ continue when not found
+
first attempts: lane sleeps

serve_arrivals.sql: answers that came while the window was full are not told
- or told.has_free_slot and lane.in_flight >= floor(least(lane.window_size, lane.max_in_flight))
first attempts: never grows

serve_arrivals.sql: what arrives overtakes what is due on its lane
- lane.next_due_at <= moment or 
first attempts: overtook

serve_arrivals.sql: a muted lane is served what arrives
- lane.muted_at is not null or 
first attempts: to a muted webhook|lanes_saturated_wakes

serve_arrivals.sql: a lane in order is served what arrives
- lane.in_order
-
+ false
+
first attempts: out of order

serve_arrivals.sql: what arrives takes more than its partner’s share
-         or coalesce(held[array_position(holders, told.partner_id)], 7) + cardinality(came) > share
first attempts: more than its share

serve_arrivals.sql: what arrives leaves no slot to what waits
- left_over bigint := at_most / 2
+ left_over bigint := at_most
first attempts: nothing was left

serve_arrivals.sql: what is locked is forgotten
-       continue when taken - 1 < told.named;
-
first attempts: lane sleeps

serve_arrivals.sql: what the short way leaves is not armed
- perform arm_lanes(rest, moment);
+ null;
differential of few lanes: lane sleeps|arm: window is

serve_arrivals.sql: what arrives for many lanes is not armed
- perform arm_lanes(came, moment);
+ null;
differential: lane sleeps|arm: window is

serve_arrivals.sql: a lane that another claim holds is waited for
-     limit 1
-     for update skip locked;
+     limit 1
+     for update;
first attempts: waits for what another session has locked

claim_named.sql: a delivery that another session holds is waited for
-         for update skip locked) due
+         for update) due
first attempts: waits for what another session has locked
`);
