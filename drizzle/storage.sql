-- How the tables lie on disk and how they are kept clean. Applied again whenever this file has changed or a
-- numbered migration is applied.

-- Deliveries of one transaction are due at the same instant. As one posting list their index entries could only be marked
-- dead together, and each claim walked over all that were delivered already: 150 heap fetches a lane in the middle of a
-- drain of 100,000.
alter index deliveries_due set (deduplicate_items = off);

-- A claim is a heap-only update where its page has room for one more version of some of its rows.
alter table deliveries set (fillfactor = 80);

-- A record gives each delivery's key a second entry, of which the first is dead soon. In pages that were full it split them all.
alter index deliveries_pkey set (fillfactor = 75);

-- Rows that live for milliseconds: dead ones are vacuumed while they are few (src/delivery/queue/upkeep/cleaner.ts does so sooner).
alter table arrivals set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);
alter table lanes set (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);

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

-- These two have no key by which a logical replica could find a changed row. It takes a lock that nobody reads beside, and
-- is asked for only once.
do $$
begin
  if exists (select from pg_class where oid = 'arrivals'::regclass and relreplident <> 'f') then
    alter table arrivals replica identity full;
    alter table lanes replica identity full;
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
