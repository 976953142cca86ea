-- howdah._backlog(p_destination_id): the messages lying in a destination: counted, or if there are many, as last counted.
--
-- Returns  live, parked, when the oldest live one was sent, whether the numbers are exact, and when they were counted.
-- Role     internal
create or replace function howdah._backlog(p_destination_id integer)
returns table (live bigint, parked bigint, oldest_sent_at timestamptz, exact boolean, counted_at timestamptz)
language plpgsql stable
as $$
declare
    v_limit constant integer := 100001;
begin
    select f.live, f.parked, f.oldest_sent_at, false, f.counted_at into live, parked, oldest_sent_at, exact, counted_at
    from howdah.backlog_figures f where f.destination_id = p_destination_id;
    if not found then
        select count(*), min(m.sent_at) into live, oldest_sent_at
        from (select c.sent_at from howdah.msgs c where c.destination_id = p_destination_id limit v_limit) m;
        select live + count(*), least(oldest_sent_at, min(n.sent_at)) into live, oldest_sent_at
        from (select c.sent_at from howdah.msgs_nonpersistent c
              where c.destination_id = p_destination_id and c.boot = pg_postmaster_start_time() limit v_limit) n;
        select count(*) into parked
        from (select from howdah.parked c where c.destination_id = p_destination_id
                and (c.boot is null or c.boot = pg_postmaster_start_time()) limit v_limit) p;
        exact := live < v_limit and parked < v_limit;
        counted_at := howdah.now();
    end if;
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
        where (e.is_system or e.name in (select d.exception_queue from howdah.destinations d))
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
