-- howdah._backlog(p_destination_id): the messages lying in a destination: counted; of a large one as last counted in the background, or estimated.
--
-- Returns  live, parked, when the oldest live one was sent, whether that is so now, and if not when it was counted, NULL: it is an estimate.
-- Role     internal
create or replace function howdah._backlog(p_destination_id integer)
returns table (live bigint, parked bigint, oldest_sent_at timestamptz, exact boolean, counted_at timestamptz)
language plpgsql stable
as $$
begin
    select f.live, f.parked, f.oldest_sent_at, false, e.backlog_at into live, parked, oldest_sent_at, exact, counted_at
    from howdah.backlog_figures f cross join howdah.engine e
    where f.destination_id = p_destination_id and greatest(f.live, f.parked) > howdah._large() and e.backlog_at > howdah._figures_since();
    if not found then
        select c.live, c.parked, c.oldest_sent_at, greatest(c.live, c.parked) <= howdah._large() into live, parked, oldest_sent_at, exact
        from howdah._count(p_destination_id, howdah._large() + 1) c;
        if not exact then
            select coalesce(sum(g.live), 0), coalesce(sum(g.parked), 0), min(g.oldest_sent_at) into live, parked, oldest_sent_at
            from howdah._estimate(p_destination_id) g;
        end if;
    end if;
    return next;
end
$$;

-- howdah._large(): from how many live or parked messages on, not included, a destination is not counted at each look: some 2 ms each.
--
-- Returns  10,000.
-- Role     internal
create or replace function howdah._large() returns bigint language sql immutable as $$ select 10000::bigint $$;

-- howdah._many_queues(): whether there are so many that a look at all shows what was counted in the background.
--
-- Returns  boolean: over 1,000.
-- Role     internal
create or replace function howdah._many_queues() returns boolean
language sql stable
as $$ select count(*) > 1000 from (select from howdah.destinations d where d.dropped_at is null limit 1001) d $$;

-- howdah._figures_since(): since when what was counted in the background is young enough to be shown.
--
-- Returns  timestamptz, two minutes ago: twelve times the pace of maintain_backlog.
-- Role     internal
create or replace function howdah._figures_since() returns timestamptz
language sql stable
as $$ select howdah.now() - interval '2 minutes' $$;

-- howdah._count(p_destination_id, p_most): the messages lying in a destination, counted, until p_most are found in a table.
--
-- Returns  live, parked, and when the oldest live one was sent.
-- Role     internal
create or replace function howdah._count(p_destination_id integer, p_most bigint)
returns table (live bigint, parked bigint, oldest_sent_at timestamptz)
language plpgsql stable
as $$
begin
    select count(*), min(c.sent_at) into live, oldest_sent_at
    from (select m.sent_at from howdah.msgs m where m.destination_id = p_destination_id limit p_most) c;
    if live = p_most then
        return next;
        return;
    end if;
    select live + count(*), least(oldest_sent_at, min(c.sent_at)) into live, oldest_sent_at
    from (select n.sent_at from howdah.msgs_nonpersistent n
          where n.destination_id = p_destination_id and n.boot = pg_postmaster_start_time() limit p_most) c;
    select count(*) into parked
    from (select from howdah.parked p
          where p.destination_id = p_destination_id and (p.boot is null or p.boot = pg_postmaster_start_time()) limit p_most) c;
    parked := parked + (select count(*) from (select from howdah.leased l where l.destination_id = p_destination_id limit p_most) c);
    return next;
end
$$;
