-- What is sent: one message an emitted event, made of the event's row. Its body is the exact bytes that every attempt of
-- every delivery sends. A test may send the example of an event: its own row stays of the test's type, so nothing that
-- follows the log takes it for the event (src/delivery/partner/try-out.ts).
drop view if exists messages;
create view messages as
select id as event_id, partner_id, case when is_example then data ->> 'exemplo_de' else type end as type,
       case when is_example then envelope(data ->> 'exemplo_de', occurred_at, family, partner_id, data -> 'data')
            else envelope(type, occurred_at, family, partner_id, data) end as body,
       fan_out, loan_version, snapshot, traceparent, salt
from events
cross join lateral (
  select type = 'webhook.teste' and coalesce(data ->> 'exemplo_de', '') <> '' as is_example
) kind
where fan_out is not null;
