-- Makes `pending` or `claims` small while a snapshot held open keeps vacuum from it: truncates the table, and puts the few rows that live back
-- as they were. False where it is small, or has four living rows for each page, or somebody holds it for longer than whoever comes behind may wait.
-- TRUNCATE is not MVCC-safe: an older snapshot finds nothing in the table. So what decides by these tables must take its snapshot after its
-- lock. Statements of clients and of plpgsql do; a function in SQL has one snapshot for all its statements. What dumps lack, adopt_server restores.
create or replace function renew(queue text) returns boolean
  language plpgsql volatile security definer set search_path from current set lock_timeout = '50ms' set enable_seqscan = on
as $$
declare
  pages bigint;
  are_few boolean;
  living text[];
begin
  if queue not in ('pending', 'claims') then
    raise exception '% is no table that is renewed', queue;
  end if;
  -- Not in `declare`: pg_relation_size waits for whoever holds the table, and the handler below catches what the body throws alone.
  pages := pg_relation_size(queue) / current_setting('block_size')::int;
  if pages < 256 then
    return false;
  end if;
  execute format('select count(*) < %s from (select from %I limit %1$s) living', 4 * pages, queue) into are_few;
  if not are_few then
    return false;
  end if;
  execute format('lock table %I in access exclusive mode', queue);
  execute format('select coalesce(array_agg(q::text), ''{}'') from %I q', queue) into living;
  execute format('truncate %I', queue);
  execute format('insert into %1$I select (l::%1$I).* from unnest($1) l', queue) using living;
  return true;
exception when lock_not_available then
  return false;
end
$$;
