-- Each webhook has one lane because it is made with it, by nobody else, and keeps it.
create or replace function make_lane() returns trigger
  language plpgsql security definer set search_path from current
as $$
begin
  insert into lanes (webhook_id, partner_id) values (new.id, new.partner_id);
  return null;
end
$$;
create or replace trigger webhooks_have_lanes after insert on webhooks for each row execute function make_lane();
