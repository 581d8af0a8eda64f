-- The end of an order's work: removes the rows that are kept by the CPF itself, the digests of the events, and at last the CPF.
-- Then `maintain` is due: it takes the texts out of archived months.
create or replace function end_erasure(p_order uuid) returns void
  language plpgsql security definer set search_path from current
as $$
declare
  worker constant text := (select cpf from erasures where order_id = p_order);
  pages constant integer := (select count(*) from erasure_pages where order_id = p_order);
begin
  if worker is null or pages >= (select next_page from erasures where order_id = p_order) then
    raise exception 'the order % is done already, or has pages left', p_order using errcode = 'CT400';
  end if;
  update margin_queries set worker_cpf = 'apagado' where partner_id in (select id from partners) and worker_cpf = worker;
  delete from margin_flights where partner_id in (select id from partners) and worker_cpf = worker;
  delete from simulated_margins where partner_id in (select id from partners) and worker_cpf = worker;
  delete from worker_events
  where event_id = any (array(select unnest(event_ids) from erasure_pages where order_id = p_order));
  update erasures set cpf = null, done_at = clock_timestamp() where order_id = p_order;
  update scheduled_jobs set next_at = clock_timestamp() where name = 'maintain' and schedule is not null;
end
$$;
