-- Refuses, with CT503, to work on a server that the installation does not know (server_fault). A session that was let
-- through is not asked again: it lives on one server only. Callers look at its mark themselves, which costs 0.3 µs.
create or replace function refuse_strange_server() returns void
  language plpgsql volatile security definer set search_path from current
as $$
declare
  fault constant text := server_fault();
begin
  if fault is not null then
    raise exception using
      errcode = 'CT503',
      message = case fault
        when 'copy' then 'this database is a copy: it was written on another server'
        else 'this database went back in time: its server counts transactions below what was seen'
      end,
      hint = 'run the command adopt, if it is to go on from here';
  end if;
  perform set_config('carteiro.known_server', session_mark(), false);
end
$$;
