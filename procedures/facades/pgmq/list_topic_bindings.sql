-- pgmq.list_topic_bindings(queue_name): list the bindings of all queues, or of one.
--
-- Returns  pattern, queue_name, bound_at and compiled_regex of each, the youngest first.
-- Role     everybody
create or replace function pgmq.list_topic_bindings()
returns table (pattern text, queue_name text, bound_at timestamptz, compiled_regex text)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return query
    select b.pattern, b.queue_name, b.bound_at, b.compiled_regex from pgmq.topic_bindings b
    order by b.bound_at desc, b.pattern, b.queue_name;
end
$$;

create or replace function pgmq.list_topic_bindings(queue_name text)
returns table (pattern text, queue_name text, bound_at timestamptz, compiled_regex text)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select b.pattern, b.queue_name, b.bound_at, b.compiled_regex from pgmq.topic_bindings b
    where b.queue_name = list_topic_bindings.queue_name
    order by b.bound_at desc, b.pattern
$$;
