-- Events as rows of the table, made of what their month's file has of them. A loan's event has its payload in its body alone: behind
-- the envelope's head, up to the last brace.
create or replace function archived_events(p_events json)
  returns table ("position" bigint, tx xid8, occurred_at timestamptz, version integer, fan_out smallint, catalog_version smallint,
                 epoch smallint, imported boolean, is_of_loan boolean, id uuid, stream uuid, partner_id uuid, type text,
                 other_family text, data json, actor text, request_id text, seen pg_snapshot, traceparent text, salt bytea)
  language plpgsql stable set search_path from current
as $$
#variable_conflict use_column
begin
  return query select e.position, e.tx, e.occurred_at, e.version, e.fan_out, e.catalog_version, e.epoch, e.imported,
         case when e.loan_version is not null then true end, e.id, e.stream, e.partner_id, e.type, nullif(e.family, 'backoffice'),
         substr(e.body, bare - 4, length(e.body) - bare + 4)::json, e.actor, e.request_id,
         nullif(e.snapshot, e.tx::text || ':' || e.tx::text || ':')::pg_snapshot, e.traceparent, e.salt
  from json_to_recordset(p_events) as e (
    "position" bigint, tx xid8, occurred_at timestamptz, version integer, fan_out smallint, catalog_version smallint, epoch smallint,
    imported boolean, loan_version integer, id uuid, stream uuid, partner_id uuid, type text, family text, body text, actor text,
    request_id text, snapshot text, traceparent text, salt bytea)
  cross join lateral length(convert_from(envelope(e.type, e.occurred_at, e.family, e.partner_id, 'null'), 'UTF8')) bare
  where e.salt is not null;
end
$$;
