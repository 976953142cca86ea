-- howdah._deliver_chosen(p_lane, p_name, p_seqs, p_groups, p_mine, p_from, p_locked, p_now, p_journaled): deliver what
-- howdah._choose_of_groups has chosen.
--
-- Returns  howdah.message of each, in order; expired messages are disposed of instead. No row at all if a group has
--          another message behind p_from and before the last of them, or waits in parked.
-- Role     internal
--
-- Nothing has ever failed in the queue. Messages that are not locked (p_locked) are taken under xmax = 0. At the last
-- moment, somebody may take a message without its group, such as an administrator. The messages behind it in its group
-- are then put back.
--
-- The journal has the time after the locks, as in howdah._deliver_locked. The lower and the upper end are for
-- PostgreSQL up to 16, as in howdah._take_drawn.
create or replace function howdah._deliver_chosen(
    p_lane howdah.lanes, p_name text, p_seqs bigint[], p_groups text[], p_mine jsonb, p_from bigint, p_locked boolean,
    p_now timestamptz, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
begin
    return query
    with taken as materialized (
        delete from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between p_seqs[1] and p_seqs[cardinality(p_seqs)] and m.seq = any (p_seqs)
          and (p_locked or m.xmax = 0)
          and array(
                  select b.seq from howdah.msgs b
                  where b.destination_id = p_lane.destination_id and b.rank = p_lane.rank
                    and b.seq > (select least(p_from, howdah._hint(p_lane.head)))
                    and b.seq <= p_seqs[cardinality(p_seqs)]
                    and p_mine ? howdah._group(b.headers, b.conversation_id)
                  order by b.seq limit cardinality(p_seqs) + 1)
              = array(select u.seq from unnest(p_seqs, p_groups) u(seq, group_id) where u.group_id is not null)
          and not (exists (select from howdah.parked p
                           where p.destination_id = p_lane.destination_id and p.group_id is not null)
                   and exists (select from howdah.parked p
                               where p.destination_id = p_lane.destination_id and p.group_id = any (p_groups)))
        returning m.*
    ), missing as materialized (
        select u.group_id, min(u.seq) as seq from unnest(p_seqs, p_groups) u(seq, group_id)
        where not exists (select from taken t where t.seq = u.seq)
        group by u.group_id
    ), journaled as (
        insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)
        select howdah.now(), p_lane.destination_id, 'consumed', array_agg(c.message_id), min(c.sent_at)
        from taken c
        where (c.expires_at > p_now) is not false and p_journaled
          and case when (select count(*) from taken) < cardinality(p_seqs) then not exists (
              select from missing n
              where n.group_id = howdah._group(c.headers, c.conversation_id) and n.seq < c.seq) else true end
        having count(*) > 0
    )
    select c.message_id, p_name,
        FIRST_DELIVERY_OF c ELSE howdah._take_body(c.message_id)
    from taken c
    where case when (select count(*) from taken) < cardinality(p_seqs) then not exists (
            select from missing n where n.group_id = howdah._group(c.headers, c.conversation_id) and n.seq < c.seq)
            or howdah._put_back(row(c.*)::howdah.msgs, false, false, false) else true end
      and ((c.expires_at > p_now) is not false
           or howdah._dispose(p_lane.destination_id, row(c.*)::howdah.msgs, false, null, p_now))
    order by c.seq;
end
$$;
