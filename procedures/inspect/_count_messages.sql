-- howdah._count_messages(p_destination_id, p_most): count the messages in a destination, until p_most are found in a
-- table.
--
-- Returns  live, parked, and when the oldest live message was sent, or the first parked one was due if that was
--          earlier. parked is NULL if p_most were live.
-- Role     internal
create or replace function howdah._count_messages(p_destination_id integer, p_most bigint)
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
    oldest_sent_at := least(oldest_sent_at, (
        select min(d.due_at) from generate_series(0, 9) r(rank) cross join lateral (
            select p.due_at from howdah.parked p
            where p.destination_id = p_destination_id and p.rank = r.rank
              and (p.boot is null or p.boot = pg_postmaster_start_time())
            order by p.due_at limit 1) d
        where d.due_at <= howdah.now()));
    select count(*) into parked
    from (select from howdah.parked p
          where p.destination_id = p_destination_id and (p.boot is null or p.boot = pg_postmaster_start_time())
          limit p_most) c;
    parked := parked + (select count(*) from (select from howdah.leased l where l.destination_id = p_destination_id
        limit p_most) c);
    return next;
end
$$;
