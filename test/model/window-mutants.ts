/** Mutants of the rule that a lane's window moves by, and of what it is told. */
import { readMutants } from './read-mutants.ts';

export const WINDOW_MUTANTS = readMutants(String.raw`
next_window.sql: a window ignores refusals
- elsif bad > 0 then
+ elsif false then
window: refusals are ignored

queue/answers.ts: a record does not tell refusals from other failures
- new Set([429, 502, 503, 504])
+ new Set()
window: refusals are ignored

next_window.sql: a window grows beyond the ceiling
- window_size := greatest(least(size, ceiling), 1);
+ window_size := greatest(size, 1);
- size), 0);
-     top := case when best_ms is null
+ size), good);
+     top := 1000 + case when best_ms is null
window: over its ceiling

next_window.sql: a refusal raises the window
- size := least(size - bad, size * 0.75);
+ size := size + bad;
window: a refusal raised

next_window.sql: a window never recovers
- size := least(size + quick + (good - quick) / 16, top);
+ size := least(size + quick, top);
window: never recovers

next_window.sql: a window grows by what left before it fell
- elsif is_limit then
-     quick
+ elsif true then
+     quick
window: grew by what left

next_window.sql: a window falls again for each flush that tells of one burst
- if in_flight <= floor(size) then
+ if true then
window: fell twice

next_window.sql: a window ignores rising times
- elsif mean_ms > most_ms then
+ elsif false then
window: rising times are ignored

rearm_lanes.sql: a claim does not say how many it left in flight
-       in_flight = s.flying,
-
filled window: never grows

state_of_lane.sql: a lane has its whole window beside an attempt that lingers
- then 8 end
+ then null::int end
filled window: beside an attempt that lingers
`);
