-- howdah._backlog(p_destination_id): the messages lying in a destination: counted; of a large one as last counted in the background, or estimated.
--
-- Returns  live, parked, when the oldest live one was sent, whether that is so now, and if not when it was counted, NULL: it is an estimate.
-- Role     internal
--
-- Looks first behind the head of the main lane, so that dead rows in front of a long queue are not walked over.
create or replace function howdah._backlog(p_destination_id integer)
returns table (live bigint, parked bigint, oldest_sent_at timestamptz, exact boolean, counted_at timestamptz)
language plpgsql stable
as $$
declare
    v_most constant bigint := howdah._large() + 1;
    v_rank smallint;
    v_head bigint;
    v_counted record;
begin
    select d.main_rank, coalesce(pg_sequence_last_value(d.head), 0) into v_rank, v_head from howdah.destinations d where d.id = p_destination_id;
    select count(*) as live, 0::bigint as parked into v_counted
    from (select from howdah.msgs m where m.destination_id = p_destination_id and m.rank = v_rank and m.seq >= v_head limit v_most) c;
    if v_counted.live < v_most then
        select c.live, c.parked, c.oldest_sent_at into v_counted from howdah._count(p_destination_id, v_most) c;
        if greatest(v_counted.live, v_counted.parked) < v_most then
            live := v_counted.live;
            parked := v_counted.parked;
            oldest_sent_at := v_counted.oldest_sent_at;
            exact := true;
            return next;
            return;
        end if;
    end if;
    exact := false;
    counted_at := howdah._figures_at();
    select f.live, f.parked, f.oldest_sent_at into live, parked, oldest_sent_at
    from howdah.backlog_figures f
    where f.destination_id = p_destination_id and counted_at is not null and greatest(f.live, f.parked) >= v_most;
    if not found then
        counted_at := null;
        select greatest(sum(g.live), v_counted.live), greatest(sum(g.parked), v_counted.parked), min(g.oldest_sent_at)
        into live, parked, oldest_sent_at
        from howdah._estimate(p_destination_id) g;
    end if;
    return next;
end
$$;

-- howdah._large(): up to how many live and as many parked messages a destination is counted at each look: some 1 ms each.
--
-- Returns  10,000.
-- Role     internal
create or replace function howdah._large() returns bigint language sql immutable as $$ select 10000::bigint $$;

-- howdah._many_queues(): whether there are so many that a look at all shows what was counted in the background.
--
-- Returns  boolean: over 1,000, temporary ones left out.
-- Role     internal
create or replace function howdah._many_queues() returns boolean
language sql stable
as $$
    select count(*) > 1000
    from (select from howdah.destinations d where d.dropped_at is null and d.kind = 'queue' and not d.name ^@ '_TEMP.' limit 1001) d
$$;

-- howdah._figures_at(): when the figures were counted, if they may be shown.
--
-- Returns  timestamptz, within the last two minutes (twelve times the pace of maintain_backlog) and since the server's start; else NULL.
-- Role     internal
create or replace function howdah._figures_at() returns timestamptz
language sql stable
as $$
    select c.counted_at from howdah.backlog_counts c
    where c.counted_at > howdah.now() - interval '2 minutes' and c.counted_at <= howdah.now() and c.boot = pg_postmaster_start_time()
$$;

-- howdah._count(p_destination_id, p_most): the messages lying in a destination, counted, until p_most are found in a table.
--
-- Returns  live, parked, and when the oldest live one was sent; of parked NULL if there were so many live.
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
