-- howdah._lags(p_topic_id): how far behind all cursors are, or those of the subscriptions that read one topic.
--
-- Returns  one row per subscription and topic, as howdah._lag for one cursor.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- One query serves all cursors. A cursor needs its own query if a transaction has ended that began before what the
-- cursor has read.
create or replace function howdah._lags(p_topic_id integer)
returns table (subscription_id integer, topic_id integer, behind bigint, oldest timestamptz, delivered bigint)
language plpgsql volatile
as $$
declare
    v_upto pg_snapshot := howdah._snapshot();
    v_ids integer[];
    v_topics integer[];
    v_after xid8[];
    v_after_seqs bigint[];
    v_late integer[];
begin
    select array_agg(p.id) filter (where not p.late), array_agg(p.destination_id) filter (where not p.late),
        array_agg(p.bound) filter (where not p.late),
        array_agg(case when p.bound = p.xid then p.seq else -1 end) filter (where not p.late),
        array_agg(p.id) filter (where p.late)
    into v_ids, v_topics, v_after, v_after_seqs, v_late
    from (select a.id, a.destination_id, c.xid, c.seq, pg_snapshot_xmax(c.snapshot) as bound,
              exists (select from pg_snapshot_xip(c.snapshot) s(xid)
                  where pg_visible_in_snapshot(s.xid, v_upto)) as late
          from howdah.acks a
          cross join lateral (select k.* from howdah.ack_cursors k where k.ack_id = a.id order by k.n desc limit 1) c
          where p_topic_id is null
             or a.subscription_id in (select o.subscription_id from howdah.acks o
                 where o.destination_id = p_topic_id)) p;
    return query
    select a.subscription_id, a.destination_id, max(l.behind), min(l.oldest), sum(l.delivered)::bigint
    from (
        select u.id, coalesce(greatest(pg_sequence_last_value(d.positions) - f.seq + 1,
            case when f.seq >= 0 then 1 end), 0) as behind, f.sent_at as oldest,
            (select k.delivered from howdah.ack_cursors k where k.ack_id = u.id order by k.n desc limit 1)
                + (select count(*) from howdah.acked k where k.ack_id = u.id) as delivered
        from unnest(v_ids, v_topics) with ordinality u(id, topic_id, number)
        join howdah.destinations d on d.id = u.topic_id
        left join howdah._first_of_each(v_topics, v_after, v_after_seqs,
            howdah._slots_from((select min(x.xid) from unnest(v_after) x(xid))), v_upto) f
            on f.number = u.number
        union all
        select k.id, g.behind, g.oldest, g.delivered from howdah.acks k cross join lateral howdah._lag(k) g
        where k.id = any (v_late)
    ) l
    join howdah.acks a on a.id = l.id
    group by a.subscription_id, a.destination_id;
end
$$;
