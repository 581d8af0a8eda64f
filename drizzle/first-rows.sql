-- Rows that an installation has from the start; what is there already stays.

-- The key that signs cursors. Two random UUIDs are 244 random bits.
insert into cursor_keys (key)
values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
on conflict (is_only) do nothing;

-- The projector begins with the log, and so does the counting of attempts by the hour. Alerts: when was last looked for what to tell.
insert into projections (name, tx, position) values ('loans', '0', 0), ('attempt_hours', '0', 0), ('alerts', '0', 0) on conflict (name) do nothing;

-- The server that the installation begins on.
insert into installation (system_identifier, own_from, timeline, next_tx)
select system_identifier, cluster_timeline(), cluster_timeline(), pg_snapshot_xmax(pg_current_snapshot())
from cluster_control()
on conflict (is_only) do nothing;

-- Loan numbers of this year and the next; `maintain` makes those of the years after.
select make_loan_numbers();
