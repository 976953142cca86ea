-- howdah._trace_in_failures(p_trace, p_bound, p_max): the newest failures whose handler worked in a trace.
--
-- Returns  the message, where it failed and when, at most p_max; of the p_bound newest failures alone.
-- Role     internal
create or replace function howdah._trace_in_failures(p_trace text, p_bound integer, p_max integer) returns table (
    message_id bigint, queue_name text, at timestamptz
)
language sql stable set enable_seqscan = off set jit = off
as $$
    select f.message_id, d.name, f.recorded_at
    from (select p.* from howdah.poison_details p order by p.incident_id desc limit p_bound) f
    join howdah.destinations d on d.id = f.destination_id
    where f.details ->> 'trace_id' = p_trace and howdah._has_right(d.id, 'browse')
    order by f.incident_id desc limit p_max
$$;
