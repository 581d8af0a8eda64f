-- What is sent: one message an emitted event, made of the event's row. Its body is the exact bytes that every attempt of
-- every delivery sends.
drop view if exists messages;
create view messages as
select id as event_id, partner_id, type, envelope(type, occurred_at, family, partner_id, data) as body, fan_out, loan_version,
       snapshot
from events
where fan_out is not null;
