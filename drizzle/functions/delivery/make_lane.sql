-- Each webhook has one lane because it is made with it, by nobody else, and keeps it. The living poller that keeps fewest gets it at once, before one
-- that keeps none and may rest, and of those the first: one that is about to be ended waits for this transaction (end_poller).
create or replace function make_lane() returns trigger
  language plpgsql security definer set search_path from current
as $$
declare
  first constant text := (
    select name from keepers where seen_at > clock_timestamp() - interval '3 seconds'
    order by lanes = 0, lanes, poller_number(name) limit 1 for key share skip locked);
begin
  insert into lanes (webhook_id, partner_id, keeper, changed) values (new.id, new.partner_id, first, first is not null);
  return null;
end
$$;
create or replace trigger webhooks_have_lanes after insert on webhooks for each row execute function make_lane();
