-- howdah._dead_by_origin(p_destination_id): count the messages of each origin in one exception destination; for a large
-- one, estimate, but not below what was counted.
--
-- Returns  origin_id and the number of messages. A row without origin says when that was counted; NULL: now.
-- Role     internal
create or replace function howdah._dead_by_origin(p_destination_id integer) returns table (
    origin_id integer, dead bigint, as_of timestamptz
)
language plpgsql stable
as $$
declare
    v_origins integer[];
    v_dead bigint[];
    v_total bigint;
begin
    select array_agg(c.origin_id), array_agg(c.messages), sum(c.messages) into v_origins, v_dead, v_total
    from howdah._count_by_origin(p_destination_id, howdah._counting_bound() + 1) c;
    if v_total > howdah._counting_bound() then
        return query
        select o.origin_id, max(o.dead)::bigint, null::timestamptz
        from (
            select g.origin_id, sum(g.live + g.parked) as dead from howdah._estimate(p_destination_id) g
            group by g.origin_id
            union all
            select u.origin_id, u.dead from unnest(v_origins, v_dead) u(origin_id, dead)
        ) o
        where o.origin_id is not null group by o.origin_id
        union all select null, 0, howdah.now();
    else
        return query select u.origin_id, u.dead, null::timestamptz from unnest(v_origins, v_dead) u(origin_id, dead)
            where u.origin_id is not null;
    end if;
end
$$;
