-- The id of the delivery of an event to a webhook; the column `id` of deliveries is made by the same expression
-- (src/db/tables/delivery.ts). So deliveries of an event are found by their primary key.
create or replace function delivery_id(event_id uuid, webhook_id uuid) returns uuid
  language sql immutable strict parallel safe
return (left(event_id::text, 20) || left(encode(sha256(uuid_send(event_id) || uuid_send(webhook_id)), 'hex'), 15))::uuid;
