-- How the tables lie on disk and how they are kept clean. Applied again whenever this file has changed or a
-- numbered migration is applied.

-- A record is a heap-only update where its page has room for one more version of some of its rows.
alter table deliveries set (fillfactor = 80);

-- Rows that live for milliseconds: dead ones are vacuumed while they are few.
alter table pending set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0
);
alter table claims set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Random ids do not compress, and are read once in a poller's life.
do $$
begin
  if exists (select from pg_attribute where attrelid = 'claims'::regclass and attname in ('ids', 'numbers') and attstorage <> 'e') then
    alter table claims alter ids set storage external, alter numbers set storage external;
  end if;
end
$$;

-- Hashes do not compress, and a proof reads 8 KiB out of the middle of them.
do $$
begin
  if exists (select from pg_attribute
             where attrelid = 'seal_trees'::regclass and attname in ('leaves', 'nodes') and attstorage <> 'e') then
    alter table seal_trees alter column leaves set storage external, alter column nodes set storage external;
  end if;
end
$$;

-- ANALYZE holds a snapshot, and dead rows of any table cannot be vacuumed while it runs. On the tables that grow for ever
-- we raise the cost limit tenfold, so that it sleeps a tenth as often: with the default it held its snapshot for 4 s.
alter table deliveries set (autovacuum_vacuum_cost_limit = 2000);
alter table attempts set (autovacuum_vacuum_cost_limit = 2000);
alter table events set (autovacuum_vacuum_cost_limit = 2000);

-- It has no key by which a logical replica could find a changed row. It takes a lock that nobody reads beside, and
-- is asked for only once.
do $$
begin
  if exists (select from pg_class where oid = 'claims'::regclass and relreplident <> 'f') then
    alter table claims replica identity full;
  end if;
end
$$;

-- ANALYZE samples 6,000 rows instead of 30,000. With the default it held its snapshot for 1 to 1.8 s, and the index of
-- pending deliveries grew fivefold meanwhile.
do $$
declare
  statement text;
begin
  for statement in
    select format(
             'alter %s %s alter column %s set statistics 20',
             case c.relkind when 'i' then 'index' else 'table' end,
             c.oid::regclass,
             case c.relkind when 'i' then a.attnum::text else quote_ident(a.attname) end
           )
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_index i on i.indexrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace
      and (c.relkind = 'r' or i.indkey[a.attnum - 1] = 0)
      and a.attgenerated <> 'v'
      and a.attstattarget is distinct from 20
  loop
    execute statement;
  end loop;
end
$$;
