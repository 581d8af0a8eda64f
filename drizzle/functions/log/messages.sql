-- One message per emitted event, made of its row; the body is the exact bytes of every attempt. A test may carry another event's example
-- payload; its row stays of the test's type, so the log's followers skip it (src/delivery/partner/try-out.ts). `salt` is null where the
-- event was erased, empty where another worker's event lost a CPF: that one is still sent.
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
