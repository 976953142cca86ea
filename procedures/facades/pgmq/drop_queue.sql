-- pgmq.drop_queue(queue_name): drop a queue with its messages and its archive.
--
-- Returns  whether there was one.
-- Raises   P0001 a bad name; HD010 not allowed; HD012 it belongs to the engine.
-- Role     howdah_admin
create or replace function pgmq.drop_queue(queue_name text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_view text := pgmq.format_table_name(queue_name, 'q');
    v_archive text := pgmq.format_table_name(queue_name, 'a');
    v_id integer;
begin
    perform pgmq.acquire_queue_lock(queue_name);
    if to_regclass(format('pgmq.%I', v_view)) is null then
        raise notice 'pgmq queue `%` does not exist', queue_name;
        return false;
    end if;
    v_id := (select d.id from howdah.destinations d
             where d.name = lower(queue_name) and d.dropped_at is null and d.kind = 'queue');
    if v_id is not null then
        perform howdah.drop_queue(lower(queue_name), true);
    end if;
    execute format('drop view if exists pgmq.%I, pgmq.%I', v_view, v_archive);
    delete from pgmq.meta m where lower(m.queue_name) = lower(drop_queue.queue_name);
    return true;
end
$$;

create or replace function pgmq.drop_queue(queue_name text, partitioned boolean) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    raise warning 'drop_queue(queue_name, partitioned) does what drop_queue(queue_name) does';
    perform pgmq.drop_queue(queue_name);
    return true;
end
$$;
