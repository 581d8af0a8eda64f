/** Mutants of the rules that leave slots to others. */
import { readMutants } from './read-mutants.ts';

export const FAIRNESS_MUTANTS = readMutants(String.raw`
within_share.sql: a partner has no share of a poller’s slots
- <= partner_share(at_most - rank, reserve)
+ <= at_most
share of a partner: took every slot|was not served

queue/slots.ts: no slots are kept for partners that hold few
- const RESERVE = 1 / 8
+ const RESERVE = 0
share of a partner: took every slot|was not served

queue/slots.ts: a claim is not told who holds many slots
- filter(([, held]) => held >= MANY)
+ filter(([, held]) => held > 1_000)
share of a partner: took every slot|was not served

wait_for_work.sql: a look takes the lanes of a partner that has its share for work
- between due_from and moment and partner_id <> all (sated)
+ between due_from and moment
share of a partner: looks again and again

rearm_lanes.sql: a lane whose partner reached its share in a claim is put off
- when s.due_at <= moment then case when s.is_cut then l.next_due_at else moment end
+ when s.due_at <= moment then moment + case when s.is_cut then interval '5 seconds' else interval '0' end
standstill: stands still

claim_due.sql: a lane is put off while its partner has its share as its poller remembers it
- select * from rearm_lanes(places, found.turns, found.dues, found.are_within, at_most, moment);
+ select * from rearm_lanes(places, found.turns, found.dues, found.are_within, at_most, moment);
+   update lanes l set next_due_at = moment + interval '5 seconds'
+   from unnest(holders, held) h (id, n)
+   where l.next_due_at <= moment and not l.saturated and h.id = l.partner_id and h.n >= 8;
standstill: stands still

queue/slots.ts: whoever holds many slots has its share, though most are free
- (holders.get(id) ?? 0) >= share
+ share > 0
standstill: stands still

queue/slots.ts: slots that came free are still counted as their partner’s
- (this.#byPartner.get(partnerId) ?? 0) - 1
+ (this.#byPartner.get(partnerId) ?? 0)
share of a partner: of 52 slots

claim_due.sql: a claim looks at the lanes of partners that have their share
-  and l.partner_id <> all (sated)
hidden lane: has its share hide the others

claim_due.sql: a claim in which a partner reaches its share looks at no more lanes
- for round in 1 .. 2 loop
+ for round in 1 .. 1 loop
hidden lane: reaches its share hide the others

claim_due.sql: a claim looks once more at the lanes of partners that hold many
- sated := sated || holders || array
+ sated := sated || array
hidden lane: reaches its share hide the others

queue/answers.ts: a record does not say that there was no answer
- isSilent: isSilent || result.statusCode === null,
+ isSilent,
silent webhook: in flight to a webhook that does not answer

next_window.sql: a lane does not hear that there was no answer
-     size := 1;
+     null;
silent webhook: in flight to a webhook that does not answer

arm_lanes.sql: a lane does not hear that there was an answer again
-          or has_free_slot and held.in_flight >=
+          or false and held.in_flight >=
silent webhook: 1 in flight to a webhook that answers again

arm_lanes.sql: what only changes a lane’s window is not written
-            or (found.window_size, found.answers, found.answers_ms) <> (l.window_size, l.answers, l.answers_ms)
-
silent beside a claim: in flight to one that does not answer

state_of_lane.sql: a claim does not look at a lane’s window
- select least(l.max_in_flight, floor(l.window_size)::int,
+ select least(l.max_in_flight,
differential: over its window

told_again.sql: silence that is told of beside a claim is forgotten
- case when is_silent then 'slot_free_silent'::arrival_kind when has_free_slot then
+ case when has_free_slot then 'slot_free'::arrival_kind when false then
silent beside a claim: in flight to one that does not answer
`);
