-- Ends a dead (`with_claims`), silent or leaving poller. It waits for nobody: what others hold locked is left for the next call, and until then
-- its row stays in `keepers`, never seen, so it forgets its lanes should it wake, and gets no new one (make_lane).
-- Its lanes go to living pollers, those that keep any first, so later claims find no lane. Of a dead one, what claims name of these lanes
-- is ended as lost. Its row goes with its claims: `flights` reads them by it. That of a silent one that may hold its lock stays until it is
-- found dead.
create or replace function end_poller(gone text, with_claims boolean, out freed int, out lost int)
  language plpgsql volatile set search_path from current
as $$
declare
  heirs text[];
begin
  freed := 0;
  lost := 0;
  perform from keepers where name = gone for update skip locked;
  if not found and exists (select from keepers where name = gone) then
    return;
  end if;
  update keepers set seen_at = '-infinity', lanes = 0 where name = gone and seen_at > '-infinity';
  heirs := array(
    select name from keepers where seen_at > clock_timestamp() - interval '3 seconds' order by lanes = 0, poller_number(name) limit 4
    for key share skip locked);
  with left_one as materialized (
    select webhook_id from lanes where coalesce(keeper, '') = gone for update skip locked
  )
  update lanes l set keeper = heirs[1 + numbered.n % nullif(cardinality(heirs), 0)], changed = heirs <> '{}'
  from (select webhook_id, row_number() over () as n from left_one) numbered
  where l.webhook_id = numbered.webhook_id;
  get diagnostics freed = row_count;
  if with_claims then
    lost := end_lost(array(
      select f.delivery_id from flights() f
      cross join lateral (select l.keeper from lanes l where l.webhook_id = f.webhook_id limit 1) lane
      where f.poller = gone and lane.keeper is distinct from gone));
  end if;
  if not exists (select from lanes where coalesce(keeper, '') = gone) and not exists (select from flights() f where f.poller = gone)
     and (with_claims or exists (select from keepers where name = gone and not has_lock)) then
    delete from claims where poller = gone;
    delete from keepers where name = gone;
  end if;
end
$$;
