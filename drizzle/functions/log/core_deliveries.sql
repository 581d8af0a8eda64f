-- The deliveries of the loan core's events, as the core may see them: their status, and of the webhook its id alone. Deliveries of
-- tests and notices are left out.
drop view if exists core_deliveries;
create view core_deliveries as
select e.id as event_id, e.stream, e.version, e.type, e.partner_id, d.id, d.webhook_id, d.status, d.attempts,
       case when isfinite(d.next_attempt_at) then d.next_attempt_at end as next_attempt_at, d.finished_at
from events e
join event_types t on t.name = e.type and t.kind = 'emitted'
join deliveries d on d.event_id = e.id and d.partner_id = e.partner_id;
