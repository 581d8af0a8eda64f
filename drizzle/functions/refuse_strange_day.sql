-- Refuses a transfer whose day is not today, and lies ahead or before the loan's contract, in Sao Paulo. Tomorrow is let through: a
-- core may count its days in UTC. Our own core has judged the day itself, in the sandbox by another rule (src/log/append.ts).
create or replace function refuse_strange_day(p_stream uuid, p_data json) returns void
  language plpgsql stable set search_path from current
as $$
declare
  day constant date := p_data ->> 'data_liberacao';
  first date;
begin
  if current_setting('carteiro.day_is_judged', true) = 'yes' then
    return;
  end if;
  select (occurred_at at time zone 'America/Sao_Paulo')::date into first from events
  where stream = p_stream and version = 1 and type in ('emprestimo.contratado', 'emprestimo.solicitado');
  if day > (now() at time zone 'America/Sao_Paulo')::date + 1 or day < first then
    raise exception '"data_liberacao" must be a day from the loan''s contract% to today', coalesce(', ' || to_char(first, 'YYYY-MM-DD') || ',', '')
      using errcode = 'CT400', hint = 'a transfer is told once it is settled; what is long past comes in with append_history';
  end if;
end
$$;
