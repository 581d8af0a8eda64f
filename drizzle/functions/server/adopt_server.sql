-- Makes the present server the known one and begins an epoch above every row, so that all rows are over and come first. Returns the
-- previous fault (server_fault); null when there was none, and then nothing is done.
-- One transaction, alone on the tables with epochs: it commits, or nothing has happened. Pending rows become of this transaction, because
-- pollers follow this server's transactions. Position counters continue above the rows, for tables copied by hand.
create or replace function adopt_server(out fault text, out epoch integer)
  language plpgsql volatile set search_path from current
as $$
declare
  having_epoch constant regclass[] := '{events,attempts,webhook_history,partner_history,send_orders}';
  base integer;
  numbered record;
begin
  fault := server_fault();
  epoch := current_epoch();
  if fault is null then
    return;
  end if;
  lock table events, attempts, webhook_history, partner_history, send_orders, seals, installation in access exclusive mode;
  select 1 + greatest(
    epoch, cluster_timeline(),
    (select timeline + epoch_base from installation), (select max(end_epoch) from seals),
    (select max(e.epoch) from events e), (select max(a.epoch) from attempts a),
    (select max(h.epoch) from webhook_history h), (select max(p.epoch) from partner_history p),
    (select max(o.epoch) from send_orders o)
  ) into epoch;
  base := epoch - cluster_timeline();
  for ordinal in 1..cardinality(having_epoch) loop
    execute format(
      'alter table %s alter column epoch set default '
      '((''x'' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int + (%s))::smallint',
      having_epoch[ordinal], base);
  end loop;
  insert into installation (system_identifier, epoch_base, own_from, timeline, next_tx)
  select system_identifier, base, epoch, cluster_timeline(), pg_snapshot_xmax(pg_current_snapshot()) from cluster_control()
  on conflict (is_only) do update
  set system_identifier = excluded.system_identifier, epoch_base = excluded.epoch_base, own_from = excluded.own_from,
      timeline = excluded.timeline, next_tx = excluded.next_tx, noted_at = excluded.noted_at;
  update pending set tx = pg_current_xact_id() where tx is not null;
  -- A dump that begins while `pending` is renewed (renew.sql) has none of its rows.
  insert into pending (due_at, number, webhook_id, delivery_id, event_id, partner_id, is_test)
  select case when d.next_attempt_at <= now() then '-infinity' else d.next_attempt_at end, d.attempts, d.webhook_id, d.id, d.event_id, d.partner_id, d.is_test
  from deliveries d
  where d.status = 'pendente' and not exists (
    select from pending p where p.webhook_id = d.webhook_id and p.due_at in ('-infinity', d.next_attempt_at) and p.delivery_id = d.id
  );
  for numbered in
    select a.attrelid::regclass as "table", a.attname as "column"
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attidentity <> ''
  loop
    execute format(
      'select setval(%1$L::regclass, highest) from (select max(%2$I) as highest from %3$s) t, %1$s s where highest >= s.last_value',
      pg_get_serial_sequence(numbered."table"::text, numbered."column"), numbered."column", numbered."table");
  end loop;
end
$$;
