-- howdah._backlog(p_destination_id): count the messages in a destination; for a large one, take the last background
-- count or an estimate.
--
-- Returns  live; parked; oldest_sent_at, as howdah._count_messages; whether that holds now; and if not, when it was
--          counted (NULL: it is an estimate).
-- Role     internal
--
-- It looks first behind the head of the main lane, so that dead rows in front of a long queue are not walked.
create or replace function howdah._backlog(p_destination_id integer)
returns table (live bigint, parked bigint, oldest_sent_at timestamptz, exact boolean, counted_at timestamptz)
language plpgsql stable
as $$
declare
    v_most constant bigint := howdah._counting_bound() + 1;
    v_rank smallint;
    v_head bigint;
    v_counted record;
begin
    select d.main_rank, coalesce(pg_sequence_last_value(d.head), 0) into v_rank, v_head from howdah.destinations d
    where d.id = p_destination_id;
    select count(*) as live, 0::bigint as parked into v_counted
    from (select from howdah.msgs m where m.destination_id = p_destination_id and m.rank = v_rank and m.seq >= v_head
        limit v_most) c;
    if v_counted.live < v_most then
        select c.live, c.parked, c.oldest_sent_at into v_counted
        from howdah._count_messages(p_destination_id, v_most) c;
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
