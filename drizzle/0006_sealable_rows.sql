-- What the seals cover: every row of the append-only tables as one line of text, whose SHA-256 is the row's leaf.
-- A line is a JSON array that begins with its table's name, so that no row can pass for one of another table. It depends
-- on no setting of the session: instants are milliseconds since 1970, bytes are hex, and `data` is a string of the exact
-- text. An event's line holds the digest of the bytes that were sent for it.
-- `subject` is what an auditor asks by: the event, the delivery of the attempt, the registration.
create view sealable_rows as
select
  e.tx::text::bigint as tx,
  'events' as source,
  e.id as subject,
  json_build_array(
    'events', e.position, e.id, e.stream, e.version, e.type, e.family, e.partner_id, e.data::text,
    (extract(epoch from e.occurred_at) * 1000)::bigint, e.actor, e.request_id, e.tx::text,
    (select json_build_array(encode(sha256(m.body), 'hex'), m.type, m.partner_id, m.fan_out, m.loan_version, m.snapshot::text)
     from messages m where m.event_id = e.id)
  )::text as line
from events e
union all
select
  a.tx::text::bigint,
  'attempts',
  a.delivery_id,
  json_build_array(
    'attempts', a.delivery_id, a.number, a.late, a.webhook_id, a.partner_id, a.outcome, a.status_code,
    (extract(epoch from a.started_at) * 1000)::bigint, a.duration_ms, a.url, a.address, a.key_id, a.poller, a.error,
    encode(a.answer, 'hex'), (extract(epoch from a.recorded_at) * 1000)::bigint, a.tx::text
  )::text
from attempts a
union all
select
  h.tx::text::bigint,
  'webhook_history',
  h.webhook_id,
  json_build_array(
    'webhook_history', h.position, h.webhook_id, h.partner_id, h.url, h.events, h.active, h.change, h.actor, h.request_id,
    (extract(epoch from h.changed_at) * 1000)::bigint, h.tx::text
  )::text
from webhook_history h;
