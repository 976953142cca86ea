-- pgmq.archive(queue_name, msg_id): consume messages by their numbers, and keep them in the archive.
--
-- Returns  true if the message was there; for msg_ids, the numbers of those that were.
-- Raises   42P01 no such queue; HD010 not allowed.
-- Role     howdah_consumer howdah_admin
create or replace function pgmq.archive(queue_name text, msg_id bigint) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$ begin return pgmq._archive(queue_name, array[msg_id], true) is not null; end $$;

create or replace function pgmq.archive(queue_name text, msg_ids bigint[]) returns setof bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_generic_plan
as $$
declare
    v_gone bigint[] := pgmq._archive(queue_name, msg_ids, true);
begin
    return query
    select pgmq._number(d.id, g.id)
    from howdah.destinations d cross join unnest(v_gone) g(id)
    where d.name = lower(queue_name) and d.dropped_at is null;
end
$$;
