-- howdah._latest_dead(p_most): the dead messages that came last to each exception destination.
--
-- Returns  up to p_most: where each lies, the queue in which it died, and when. Those of lower priorities come first.
-- Role     internal
--
-- It reads by keys from their end, and no more than p_most rows of one table and destination.
create or replace function howdah._latest_dead(p_most integer) returns table (
    destination_id integer, message_id bigint, seq bigint, origin_id integer, dead_at timestamptz
)
language sql stable
as $$
    select e.id, d.message_id, d.seq, d.origin_id, d.dead_at
    from howdah._exception_destinations() e(id)
    cross join lateral (
        (select m.message_id, m.seq, m.origin_id, m.dead_at from howdah.msgs m where m.destination_id = e.id
         order by m.destination_id desc, m.rank desc, m.seq desc limit p_most)
        union all
        (select n.message_id, n.seq, n.origin_id, n.dead_at from howdah.msgs_nonpersistent n
         where n.destination_id = e.id and n.boot = pg_postmaster_start_time()
         order by n.destination_id desc, n.rank desc, n.seq desc limit p_most)
        union all
        (select p.message_id, p.seq, p.origin_id, p.dead_at from howdah.parked p
         where p.destination_id = e.id and (p.boot is null or p.boot = pg_postmaster_start_time())
         order by p.destination_id desc, p.message_id desc limit p_most)
    ) d
    where d.dead_at is not null
    limit p_most
$$;
