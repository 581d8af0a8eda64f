-- The messages that are sent: one for each emitted event, made of the event's row. Its body is the exact bytes that every attempt of
-- every delivery sends. A test may send the example of an event: its own row stays of the test's type, so nothing that
-- follows the log takes it for the event (src/delivery/partner/try-out.ts).
-- `salt` is null where the event was erased, and empty where it is of another worker and lost a CPF alone: that one is still sent.
drop view if exists messages;
create view messages as
select id as event_id, partner_id, coalesce(example_of, type) as type,
       envelope(coalesce(example_of, type), occurred_at, family, partner_id,
                case when example_of is null then data else data -> 'data' end) as body,
       fan_out, loan_version, snapshot::pg_snapshot as snapshot, traceparent, stream,
       case when salt is null and erased(data)::text <> data::text then ''::bytea else salt end as salt
from events
cross join lateral (
  select case when type = 'webhook.teste' then nullif(field_of(data, 'exemplo_de'), '') end as example_of
) kind
where fan_out is not null;
