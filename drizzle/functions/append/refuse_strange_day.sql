-- Refuses a transfer whose day lies ahead or before the loan's contract, in Sao Paulo (append_event). Tomorrow is let through: a
-- core may count its days in UTC. Our own core has judged the day itself, in the sandbox by another rule (src/log/append.ts).
create or replace function refuse_strange_day(p_stream uuid) returns void
  language plpgsql stable set search_path from current
as $$
declare
  first constant text := (
    select to_char(occurred_at at time zone 'America/Sao_Paulo', ', YYYY-MM-DD,') from events
    where stream = p_stream and version = 1 and type in ('emprestimo.contratado', 'emprestimo.solicitado'));
begin
  if current_setting('carteiro.day_is_judged', true) is distinct from 'yes' then
    raise exception '"data_liberacao" must be a day from the loan''s contract% to today', coalesce(first, '')
      using errcode = 'CT400', hint = 'a transfer is told once it is settled; what is long past comes in with append_history';
  end if;
end
$$;
