-- SHA-256 of a stream's events up to a version, in their order, with every column that is stored.
create or replace function stream_digest(p_stream uuid, p_version integer) returns bytea
  language sql stable set search_path from current
return (
  select sha256(string_agg(record_send(row(
    e.position, e.tx, e.occurred_at, e.version, e.fan_out, e.catalog_version, e.epoch, e.imported, e.is_of_loan, e.id, e.stream,
    e.partner_id, e.type, e.other_family, e.data, e.actor, e.request_id, e.seen, e.traceparent, e.salt, e.commitment)),
    '' order by e.version))
  from events e where e.stream = p_stream and e.version <= p_version
);
