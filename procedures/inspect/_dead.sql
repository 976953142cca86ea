-- howdah._dead(): how many messages of each destination lie in exception destinations.
--
-- Returns  origin_id and their number; and in a row without origin as of when all of that is, NULL: counted now.
-- Role     internal
--
-- As last counted in the background, if that may be shown, where over 10,000 messages were in them then, or where they are over 100.
create or replace function howdah._dead() returns table (origin_id integer, dead bigint, as_of timestamptz)
language plpgsql stable
as $$
declare
    v_ids integer[] := array(select x.x from howdah._exception_destinations() x(x));
    v_counted_at timestamptz := howdah._figures_at();
begin
    if v_counted_at is not null and (cardinality(v_ids) > 100 or howdah._large() < (
        select sum(f.live + f.parked) from howdah.backlog_figures f where f.destination_id = any (v_ids))
    ) then
        return query
        select f.origin_id, sum(f.dead)::bigint, null::timestamptz from howdah.dead_figures f group by f.origin_id
        union all select null, 0, v_counted_at;
    else
        return query
        select d.origin_id, sum(d.dead)::bigint, min(d.as_of) from unnest(v_ids) e(id) cross join lateral howdah._dead_in(e.id) d
        group by d.origin_id;
    end if;
end
$$;

-- howdah._dead_in(p_destination_id): how many messages of each origin lie in one exception destination: counted, or of a large one estimated, and not below what was counted.
--
-- Returns  origin_id and their number; and in a row without origin as of when that is, NULL: counted now.
-- Role     internal
create or replace function howdah._dead_in(p_destination_id integer) returns table (origin_id integer, dead bigint, as_of timestamptz)
language plpgsql stable
as $$
declare
    v_origins integer[];
    v_dead bigint[];
    v_total bigint;
begin
    select array_agg(c.origin_id), array_agg(c.messages), sum(c.messages) into v_origins, v_dead, v_total
    from howdah._count_by_origin(p_destination_id, howdah._large() + 1) c;
    if v_total > howdah._large() then
        return query
        select o.origin_id, max(o.dead)::bigint, null::timestamptz
        from (
            select g.origin_id, sum(g.live + g.parked) as dead from howdah._estimate(p_destination_id) g group by g.origin_id
            union all
            select u.origin_id, u.dead from unnest(v_origins, v_dead) u(origin_id, dead)
        ) o
        where o.origin_id is not null group by o.origin_id
        union all select null, 0, howdah.now();
    else
        return query select u.origin_id, u.dead, null::timestamptz from unnest(v_origins, v_dead) u(origin_id, dead) where u.origin_id is not null;
    end if;
end
$$;

-- howdah._count_by_origin(p_destination_id, p_most): how many messages of each origin lie in one destination, in each table up to p_most; NULL: all.
--
-- Returns  origin_id, NULL: never moved there, and their number. Leased ones are in somebody's hands and not counted.
-- Role     internal
create or replace function howdah._count_by_origin(p_destination_id integer, p_most bigint) returns table (origin_id integer, messages bigint)
language plpgsql stable
as $$
begin
    return query
    select g.origin_id, count(*)
    from (
        (select m.origin_id from howdah.msgs m where m.destination_id = p_destination_id limit p_most)
        union all
        (select n.origin_id from howdah.msgs_nonpersistent n
         where n.destination_id = p_destination_id and n.boot = pg_postmaster_start_time() limit p_most)
        union all
        (select p.origin_id from howdah.parked p
         where p.destination_id = p_destination_id and (p.boot is null or p.boot = pg_postmaster_start_time()) limit p_most)
    ) g
    group by g.origin_id;
end
$$;
