-- howdah._backlog(p_destination_id): the messages lying in a destination: counted, or, of a large one, as last counted in the background.
--
-- Returns  live, parked, when the oldest live one was sent, whether that is so now, and when it was counted if not.
-- Role     internal
create or replace function howdah._backlog(p_destination_id integer)
returns table (live bigint, parked bigint, oldest_sent_at timestamptz, exact boolean, counted_at timestamptz)
language plpgsql stable
as $$
begin
    select f.live, f.parked, f.oldest_sent_at, false, f.counted_at into live, parked, oldest_sent_at, exact, counted_at
    from howdah.backlog_figures f where f.destination_id = p_destination_id;
    if not found then
        select c.live, c.parked, c.oldest_sent_at into live, parked, oldest_sent_at from howdah._count(p_destination_id) c;
        exact := true;
    end if;
    return next;
end
$$;

-- howdah._count(p_destination_id): the messages lying in a destination, counted.
--
-- Returns  live, parked, and when the oldest live one was sent.
-- Role     internal
create or replace function howdah._count(p_destination_id integer)
returns table (live bigint, parked bigint, oldest_sent_at timestamptz)
language plpgsql stable
as $$
begin
    select count(*), min(c.sent_at) into live, oldest_sent_at from howdah.msgs c where c.destination_id = p_destination_id;
    select live + count(*), least(oldest_sent_at, min(c.sent_at)) into live, oldest_sent_at from howdah.msgs_nonpersistent c
    where c.destination_id = p_destination_id and c.boot = pg_postmaster_start_time();
    select count(*) into parked from howdah.parked c
    where c.destination_id = p_destination_id and (c.boot is null or c.boot = pg_postmaster_start_time());
    parked := parked + (select count(*) from howdah.leased c where c.destination_id = p_destination_id);
    return next;
end
$$;

-- howdah._dead(): how many messages of each destination lie in exception destinations.
--
-- Returns  origin_id and their number.
-- Role     internal
--
-- In an exception destination of more than 100,000 messages as last counted in the background.
create or replace function howdah._dead() returns table (origin_id integer, dead bigint)
language plpgsql stable
as $$
begin
    return query
    select g.origin_id, sum(g.dead)::bigint
    from (
        select c.origin_id, c.dead
        from howdah.destinations e
        cross join lateral howdah._count_dead(e.id) c
        where e.id in (select x.x from howdah._exception_destinations() x(x))
          and not exists (select from howdah.backlog_figures f where f.destination_id = e.id)
        union all
        select f.origin_id, f.dead from howdah.dead_figures f
    ) g
    group by g.origin_id;
end
$$;

-- howdah._count_dead(p_destination_id): how many messages of each origin lie in one destination.
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
