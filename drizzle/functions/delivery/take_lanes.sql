-- Takes up to `at_most` lanes that nobody keeps for a poller that is known, and has it read them (readLanes): each from its start, while it follows
-- `pending` from a snapshot that is no newer. They count at once as kept: otherwise others, whose parts were too small, would hand back more.
create or replace function take_lanes(p_poller text, at_most int) returns void
  language sql volatile set search_path from current
as $$
  with known as materialized (select from keepers where name = p_poller and seen_at > '-infinity' for key share),
  free as materialized (
    select webhook_id from lanes where coalesce(keeper, '') = '' and exists (select from known) limit at_most for update skip locked
  ),
  counted as (update keepers set lanes = lanes + (select count(*) from free) where name = p_poller)
  update lanes l set keeper = p_poller, changed = true from free where l.webhook_id = free.webhook_id
$$;
