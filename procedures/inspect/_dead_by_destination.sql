-- howdah._dead_by_destination(): count the messages of each destination that lie in exception destinations.
--
-- Returns  origin_id and the number of messages. A row without origin says when all of that was counted; NULL: now.
-- Role     internal
--
-- It shows the last background count, if that may be shown, where the exception destinations held over 10,000 messages
-- then, or number over 100.
create or replace function howdah._dead_by_destination() returns table (
    origin_id integer, dead bigint, as_of timestamptz
)
language plpgsql stable
as $$
declare
    v_ids integer[] := array(select x.x from howdah._exception_destinations() x(x));
    v_counted_at timestamptz := howdah._figures_at();
begin
    if v_counted_at is not null and (cardinality(v_ids) > 100 or howdah._counting_bound() < (
        select sum(f.live + f.parked) from howdah.backlog_figures f where f.destination_id = any (v_ids))
    ) then
        return query
        select f.origin_id, sum(f.dead)::bigint, null::timestamptz from howdah.dead_figures f group by f.origin_id
        union all select null, 0, v_counted_at;
    else
        return query
        select d.origin_id, sum(d.dead)::bigint, min(d.as_of) from unnest(v_ids) e(id)
        cross join lateral howdah._dead_by_origin(e.id) d
        group by d.origin_id;
    end if;
end
$$;
