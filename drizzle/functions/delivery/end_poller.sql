-- Ends a dead (`with_claims`), silent or leaving poller. It is unregistered first, so should it wake it forgets its lanes and gets no new
-- one (waits for make_lane). Its lanes go to living pollers, those that keep any first; this waits for a claim under way, and later claims
-- find no lane. A dead one's claimed, unrecorded deliveries are ended as lost. A silent one that may hold its lock stays in `keepers`, seen
-- never, so that it is found dead later.
create or replace function end_poller(gone text, with_claims boolean, out freed int, out lost int)
  language plpgsql volatile set search_path from current
as $$
declare
  heirs text[];
begin
  perform from keepers where name = gone for update;
  delete from keepers where name = gone and (with_claims or not has_lock);
  update keepers set seen_at = '-infinity', lanes = 0 where name = gone;
  heirs := array(
    select name from keepers where seen_at > clock_timestamp() - interval '3 seconds' order by lanes = 0, poller_number(name) limit 4
    for key share skip locked);
  perform from lanes where coalesce(keeper, '') = gone order by webhook_id for update;
  update lanes l set keeper = heirs[1 + left_one.n % nullif(cardinality(heirs), 0)], changed = heirs <> '{}'
  from (select webhook_id, row_number() over () as n from lanes where coalesce(keeper, '') = gone) left_one
  where l.webhook_id = left_one.webhook_id;
  get diagnostics freed = row_count;
  lost := 0;
  if with_claims then
    lost := end_lost(array(select f.delivery_id from flights() f where f.poller = gone));
    delete from claims where poller = gone;
  end if;
end
$$;
