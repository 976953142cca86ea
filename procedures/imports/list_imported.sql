-- howdah.list_imported(source, queue, after, batch): list what came over into a queue or topic, in the order of the
-- store.
--
-- Returns  key, store_id and message_id, those after the number `after` of the store (NULL: from the first), at most
--          batch; of one number, all.
-- Raises   HD001 no such queue; HD005 no such import, or batch is not 1 to 100,000; HD010 not allowed; HD045 the master
--          of changes is away.
-- Role     howdah_admin
create or replace function howdah.list_imported(
    source text, queue text, after bigint default null, batch integer default 1000
) returns table (key text, store_id bigint, message_id bigint)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_import howdah.imports := howdah._import(source);
    v_destination howdah.destinations := howdah._destination(queue, 'send');
begin
    if batch is null or batch not between 1 and 100000 then
        raise exception using errcode = 'HD005', message = 'batch is 1 to 100000';
    end if;
    return query
    select i.key, i.store_id, i.message_id
    from howdah.imported i
    where i.import_id = v_import.import_id and i.destination_id = v_destination.id
      and i.store_id > coalesce(after, -9223372036854775808)
    order by i.store_id
    fetch first batch rows with ties;
end
$$;
