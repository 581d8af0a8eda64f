-- Refuses what needs a loan's events that left with their months. Who can read the files brings them back and tries again
-- (src/archive/bring-back.ts).
create or replace function refuse_away(p_stream uuid) returns boolean
  language plpgsql stable set search_path from current
as $$
begin
  raise exception 'the history of loan % is archived', p_stream
    using errcode = 'CT423', hint = format('carteiro archive recall %s brings it back; over HTTP that is done by itself', p_stream);
end
$$;
