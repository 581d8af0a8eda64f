-- The faults of ours that keep deliveries from being sent now. A delivery is tried again every minute (src/delivery/poller/unsent.ts).
create view present_send_faults as
select webhook_id, reason, since, at from send_faults where at > now() - interval '3 minutes';
