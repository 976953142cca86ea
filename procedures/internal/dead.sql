-- howdah._dead(): how many messages of each destination lie in exception destinations.
--
-- Returns  origin_id, their number, and as of when, NULL: counted now.
-- Role     internal
--
-- Where there are over 100 exception destinations as last counted in the background, if that was done in the last two minutes.
create or replace function howdah._dead() returns table (origin_id integer, dead bigint, as_of timestamptz)
language plpgsql stable
as $$
declare
    v_ids integer[] := array(select x.x from howdah._exception_destinations() x(x));
    v_counted_at timestamptz := (select e.backlog_at from howdah.engine e where e.backlog_at > howdah._figures_since());
begin
    if cardinality(v_ids) > 100 and v_counted_at is not null then
        return query select f.origin_id, sum(f.dead)::bigint, v_counted_at from howdah.dead_figures f group by f.origin_id;
    else
        return query
        select d.origin_id, sum(d.dead)::bigint, min(d.as_of) from unnest(v_ids) e(id) cross join lateral howdah._dead_in(e.id) d
        group by d.origin_id;
    end if;
end
$$;

-- howdah._dead_in(p_destination_id): how many messages of each origin lie in one exception destination.
--
-- Returns  origin_id, their number, and as of when, NULL: counted now; a large one is as last counted in the background, or estimated.
-- Role     internal
create or replace function howdah._dead_in(p_destination_id integer) returns table (origin_id integer, dead bigint, as_of timestamptz)
language plpgsql stable
as $$
declare
    v_backlog record;
begin
    select b.exact, b.counted_at into v_backlog from howdah._backlog(p_destination_id) b;
    if v_backlog.exact then
        return query select c.origin_id, c.dead, null::timestamptz from howdah._count_dead(p_destination_id) c;
    elsif v_backlog.counted_at is not null then
        return query select f.origin_id, f.dead, v_backlog.counted_at from howdah.dead_figures f where f.destination_id = p_destination_id;
    else
        return query
        select g.origin_id, sum(g.live + g.parked)::bigint, howdah.now() from howdah._estimate(p_destination_id) g
        where g.origin_id is not null group by g.origin_id;
    end if;
end
$$;

-- howdah._count_dead(p_destination_id): how many messages of each origin lie in one destination, counted.
--
-- Returns  origin_id and their number.
-- Role     internal
create or replace function howdah._count_dead(p_destination_id integer) returns table (origin_id integer, dead bigint)
language plpgsql stable
as $$
begin
    return query
    select g.origin_id, count(*)
    from (
        select m.origin_id from howdah.msgs m where m.destination_id = p_destination_id
        union all
        select n.origin_id from howdah.msgs_nonpersistent n
        where n.destination_id = p_destination_id and n.boot = pg_postmaster_start_time()
        union all
        select p.origin_id from howdah.parked p where p.destination_id = p_destination_id
    ) g
    where g.origin_id is not null
    group by g.origin_id;
end
$$;
