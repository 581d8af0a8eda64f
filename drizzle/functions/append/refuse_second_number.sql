-- Refuses a loan of a number that another loan of the partner bears, with CT409 (append_event, which has tried to remember it in
-- `numbered_loans`: of two at once the later one waits for the other's commit).
create or replace function refuse_second_number(p_stream uuid, p_partner_id uuid, p_data json, p_version bigint) returns void
  language plpgsql stable set search_path from current
as $$
declare
  bearer constant uuid := (select loan_id from numbered_loans where partner_id = p_partner_id and number = p_data ->> 'numero');
begin
  if bearer <> p_stream then
    raise exception 'another loan bears this number: %', bearer
      using errcode = 'CT409', detail = format('{"version":%s}', p_version), hint = 'give the loan a number of its own';
  end if;
end
$$;
