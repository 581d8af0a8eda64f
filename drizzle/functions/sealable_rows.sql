-- What the seals cover: every row of the append-only tables as one line of text, whose SHA-256 is the row's leaf.
-- A line is a JSON array that begins with its table's name, so that no row can pass for one of another table. It depends
-- on no setting of the session: instants are milliseconds since 1970, bytes are hex, and `data` is a string of the exact
-- text. An event's line holds the digest of the bytes that were sent for it.
-- `subject` is what an auditor asks by: the event, the delivery of the attempt, the webhook.
--
-- Each row with its leaf, hashed from packed bytes: fixed fields big-endian, lengths before the texts (-1 for null), so
-- that no two rows have the same bytes; the first byte tells the table. A JSON line took 5 µs a row, its bytes take 1.2.
-- The line is what evidence shows; src/audit/seals/leaf.ts computes the leaf from it, without a database. Rows of other tables
-- are few: their leaf is the SHA-256 of the line. textsend and snapshots need a session in UTF8, which the driver's is.
-- A transaction's number is unique within its epoch. `xid` is compared without a conversion, `tx` is what the indexes know.
drop view if exists sealable_rows;
create view sealable_rows as
select
  e.epoch,
  xid8send(e.tx)::bigint as tx,
  'events' as source,
  e.id as subject,
  json_build_array(
    'events', e.position, e.id, e.stream, e.version, e.type, e.family, e.partner_id, e.data::text,
    (extract(epoch from e.occurred_at) * 1000)::bigint, e.actor, e.request_id, e.tx::text,
    case when e.fan_out is not null then json_build_array(
      encode(sha256(envelope(e.type, e.occurred_at, e.family, e.partner_id, e.data)), 'hex'),
      e.type, e.partner_id, e.fan_out, e.loan_version, e.snapshot::text) end,
    e.epoch
  )::text as line,
  e.tx as xid,
  sha256(
    int8send((2::bigint << 56) | ((e.request_id is not null)::int::bigint << 48) | e.version)
    || int8send((octet_length(e.type)::bigint << 32) | octet_length(e.family))
    || int8send((octet_length(e.actor)::bigint << 32) | octet_length(e.data::text))
    || uuid_send(e.id) || uuid_send(e.stream) || uuid_send(e.partner_id)
    || int8send(e.position) || timestamptz_send(e.occurred_at) || xid8send(e.tx) || int2send(e.epoch)
    || textsend(e.type || e.family || e.actor || e.data::text)
    || coalesce(uuid_send(e.request_id), '')
    || case when e.fan_out is null then '' else
      int8send((e.fan_out::bigint << 32) | (coalesce(e.loan_version, -1) & 4294967295))
      || uuid_send(e.partner_id) || sha256(envelope(e.type, e.occurred_at, e.family, e.partner_id, e.data))
      || textsend(e.type || ' ' || e.snapshot::text)
    end
  ) as leaf
from events e
union all
select
  a.epoch,
  xid8send(a.tx)::bigint,
  'attempts',
  a.delivery_id,
  json_build_array(
    'attempts', a.delivery_id, a.number, a.late, a.webhook_id, a.partner_id, a.outcome, a.status_code,
    (extract(epoch from a.started_at) * 1000)::bigint, a.duration_ms, a.url, a.address, a.key_id, a.claim, a.error,
    encode(a.answer, 'hex'), (extract(epoch from a.recorded_at) * 1000)::bigint, a.tx::text, a.epoch
  )::text,
  a.tx,
  sha256(
    int8send((1::bigint << 56) | (a.late::int::bigint << 48) | (coalesce(a.status_code, 0)::bigint << 32) | a.number)
    || int8send((octet_length(a.url)::bigint << 32) | (coalesce(octet_length(a.address), -1) & 4294967295))
    || int8send((octet_length(a.claim)::bigint << 32) | (coalesce(octet_length(a.key_id), -1) & 4294967295))
    || int8send((coalesce(octet_length(a.error), -1)::bigint << 32) | (coalesce(a.duration_ms, -1) & 4294967295))
    || uuid_send(a.delivery_id) || uuid_send(a.webhook_id) || uuid_send(a.partner_id)
    || timestamptz_send(a.started_at) || timestamptz_send(a.recorded_at) || xid8send(a.tx) || int2send(a.epoch)
    || textsend(a.outcome || a.url || coalesce(a.address, '') || coalesce(a.key_id, '') || a.claim || coalesce(a.error, ''))
    || coalesce(a.answer, '')
  )
from attempts a
union all
select
  h.epoch,
  xid8send(h.tx)::bigint,
  'webhook_history',
  h.webhook_id,
  history.line,
  h.tx,
  sha256(convert_to(history.line, 'UTF8'))
from webhook_history h
cross join lateral (
  select json_build_array(
    'webhook_history', h.position, h.webhook_id, h.partner_id, h.url, h.events, h.active, h.change, h.actor, h.request_id,
    (extract(epoch from h.changed_at) * 1000)::bigint, h.tx::text,
    (extract(epoch from h.takes_effect_at) * 1000)::bigint,
    h.epoch, h.reason
  )::text as line
) history
union all
select
  o.epoch,
  xid8send(o.tx)::bigint,
  'send_orders',
  o.webhook_id,
  ordered.line,
  o.tx,
  sha256(convert_to(ordered.line, 'UTF8'))
from send_orders o
cross join lateral (
  select json_build_array(
    'send_orders', o.position, o.kind, o.webhook_id, o.partner_id, o.delivery_ids, o.actor, o.request_id,
    (extract(epoch from o.ordered_at) * 1000)::bigint, o.tx::text, o.epoch, o.reason
  )::text as line
) ordered
union all
select
  p.epoch,
  xid8send(p.tx)::bigint,
  'partner_history',
  p.partner_id,
  account.line,
  p.tx,
  sha256(convert_to(account.line, 'UTF8'))
from partner_history p
cross join lateral (
  select json_build_array(
    'partner_history', p.position, p.partner_id, p.name, p.active, p.signing, p.documents, p.issuance, p.change, p.actor,
    p.reason, (extract(epoch from p.changed_at) * 1000)::bigint, p.tx::text, p.epoch
  )::text as line
) account;
