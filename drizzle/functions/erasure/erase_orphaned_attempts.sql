-- Takes the answers from attempts whose deliveries went to an archive before their event was erased: `erase_page` finds attempts by
-- their deliveries. Of an event that is not erased nothing is taken.
create or replace function erase_orphaned_attempts(p_deliveries uuid[]) returns void
  language sql security definer set search_path from current
begin atomic
  update attempts a
  set commitment = coalesce(a.commitment, sha256(a.salt || convert_to(a.answer, 'UTF8'))), answer = null, salt = null
  from events e
  where a.delivery_id = any (p_deliveries) and a.salt is not null and e.id = a.event_id and e.salt is null;
end;
