-- Remembers which loan of a partner bears a number, and refuses another loan of that number with CT409. Of two at once the later one
-- waits for the other's commit.
create or replace function refuse_second_number(p_stream uuid, p_partner_id uuid, p_data json, p_version bigint) returns void
  language plpgsql volatile set search_path from current
as $$
declare
  bearer uuid;
begin
  insert into numbered_loans (partner_id, number, loan_id) values (p_partner_id, p_data ->> 'numero', p_stream) on conflict do nothing;
  if not found then
    select loan_id into bearer from numbered_loans where partner_id = p_partner_id and number = p_data ->> 'numero';
    if bearer <> p_stream then
      raise exception 'another loan bears this number: %', bearer
        using errcode = 'CT409', detail = format('{"version":%s}', p_version), hint = 'give the loan a number of its own';
    end if;
  end if;
end
$$;
