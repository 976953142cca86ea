-- howdah.list_imports(): list the imports from stores of other systems.
--
-- Returns  one row per import. held: the queues and subscriptions that wait for its final pass. queues: those that
--          messages came over into.
-- Role     howdah_admin howdah_auditor
create or replace function howdah.list_imports() returns table (
    source text, stored bigint, withdrawn bigint, held text[], created_at timestamptz, finished_at timestamptz,
    created_by text, queues text[]
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select i.source, i.stored, i.withdrawn,
        array(select d.name from howdah.import_holds h join howdah.destinations d on d.id = h.destination_id
              where h.import_id = i.import_id and d.dropped_at is null order by d.name),
        i.created_at, i.finished_at, i.created_by,
        array(with recursive filled as (
                select min(m.destination_id) as id from howdah.imported m where m.import_id = i.import_id
                union all
                select (select min(m.destination_id) from howdah.imported m
                        where m.import_id = i.import_id and m.destination_id > f.id)
                from filled f where f.id is not null)
            select d.name from filled f join howdah.destinations d on d.id = f.id
            where d.dropped_at is null and d.kind = 'queue' order by d.name)
    from howdah.imports i
    order by i.import_id
$$;
