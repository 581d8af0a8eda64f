-- A lane's window once answers are reported: how many of its webhook's deliveries may be in flight, 1 to `ceiling` (the
-- operator's cap). Pure; test/model/window.ts is the same rule, and tests compare the two.
--
-- Invariants: 1 <= window <= ceiling. It grows only while it is the limit (`in_flight`, counted by the last claim, fills it), by
-- 1 for each good answer up to `quick_to` (null: the ceiling), above that by 1/16; beyond 8 only once 32 answers are measured.
-- Silence makes it 1. Answers that say nothing of the load (500) bring it back to 8, and no further. Refusals (`bad`) subtract
-- their number, at least a quarter of the window, once per burst. While the mean of the last 64 answers exceeds twice the best
-- mean + 20 ms (a busy poller's own delay), each answer subtracts up to 0.5. At window 1 nothing of ours queues at the
-- receiver, so the mean measured then is the new best.
-- Crash: the window commits with its lane; until then the arrivals that report the answers are still there.
-- Measured alternatives (simulated; receiver of 10: 2.1 % refused, 123/s): TCP's halving and +1 a round trip 1.9 %, 104/s;
-- subtracting the refusals alone 5.3 %, 136/s. The least time instead of the best mean: the window stays at 1 (20/s, not 860).
create or replace function next_window(
  ceiling int, in_flight int, is_silent boolean, good bigint, bad bigint, good_ms float8,
  inout window_size float8, inout quick_to float8, inout answers float8, inout answers_ms float8, inout best_ms float8
)
  language plpgsql immutable parallel safe set search_path from current
as $$
declare
  first_size constant float8 := 8;
  measured_of constant float8 := 32;
  remembered constant float8 := 64;
  size float8 := greatest(least(window_size, ceiling), 1);
  is_limit constant boolean := in_flight = floor(size);
  kept float8;
  mean_ms float8;
  most_ms float8;
  quick float8;
  top float8;
begin
  if good > 0 then
    kept := least(1, remembered / (answers + good));
    answers := (answers + good) * kept;
    -- An answer takes 1 ms at least: of nothing but zeros the sum would shrink until it is out of a float's range.
    answers_ms := (answers_ms + greatest(good_ms, good)) * kept;
  end if;
  mean_ms := answers_ms / nullif(answers, 0);
  if good > 0 and answers >= measured_of then
    best_ms := case when size < 2 then mean_ms else least(best_ms, mean_ms) end;
  end if;
  most_ms := 2 * best_ms + 20;

  if is_silent then
    if size > 1 then
      quick_to := greatest(first_size, size / 2);
    end if;
    size := 1;
  elsif bad > 0 then
    -- More in flight than the window has: these left before it last fell.
    if in_flight <= floor(size) then
      size := least(size, greatest(in_flight, first_size));
      size := least(size - bad, size * 0.75);
      quick_to := greatest(size, 1);
    end if;
  elsif good = 0 then
    -- Answers that say nothing of the load, as 500 does: the window is the first one again, and no more.
    if is_limit then
      size := greatest(size, least(first_size, size * 2));
    end if;
  elsif mean_ms > most_ms then
    size := greatest(size - good * least(0.5, 1 - most_ms / mean_ms), size / 2);
    quick_to := greatest(size, 1);
  elsif is_limit then
    quick := greatest(least(good, coalesce(quick_to, ceiling) - size), 0);
    top := case when best_ms is null then greatest(first_size, size) else ceiling end;
    size := least(size + quick + (good - quick) / 16, top);
  end if;
  window_size := greatest(least(size, ceiling), 1);
end
$$;
