-- howdah._lags(p_topic_id): how far all cursors are behind, or those of the subscriptions that read one topic.
--
-- Returns  a row for each subscription and topic, as howdah._lag tells of a cursor.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- One look for all of them; those for which a transaction has ended that began before what they have read are asked one by one.
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
        array_agg(p.bound) filter (where not p.late), array_agg(case when p.bound = p.xid then p.seq else -1 end) filter (where not p.late),
        array_agg(p.id) filter (where p.late)
    into v_ids, v_topics, v_after, v_after_seqs, v_late
    from (select a.id, a.destination_id, c.xid, c.seq, pg_snapshot_xmax(c.snapshot) as bound,
              exists (select from pg_snapshot_xip(c.snapshot) s(xid) where pg_visible_in_snapshot(s.xid, v_upto)) as late
          from howdah.acks a
          cross join lateral (select k.* from howdah.ack_cursors k where k.ack_id = a.id order by k.n desc limit 1) c
          where p_topic_id is null
             or a.subscription_id in (select o.subscription_id from howdah.acks o where o.destination_id = p_topic_id)) p;
    return query
    select a.subscription_id, a.destination_id, max(l.behind), min(l.oldest), sum(l.delivered)::bigint
    from (
        select u.id, coalesce(greatest(pg_sequence_last_value(d.positions) - f.seq + 1, case when f.seq >= 0 then 1 end), 0) as behind, f.sent_at as oldest,
            (select k.delivered from howdah.ack_cursors k where k.ack_id = u.id order by k.n desc limit 1)
                + (select count(*) from howdah.acked k where k.ack_id = u.id) as delivered
        from unnest(v_ids, v_topics) with ordinality u(id, topic_id, number)
        join howdah.destinations d on d.id = u.topic_id
        left join howdah._firsts(v_topics, v_after, v_after_seqs, howdah._slots_from((select min(x.xid) from unnest(v_after) x(xid))), v_upto) f
            on f.number = u.number
        union all
        select k.id, g.behind, g.oldest, g.delivered from howdah.acks k cross join lateral howdah._lag(k) g where k.id = any (v_late)
    ) l
    join howdah.acks a on a.id = l.id
    group by a.subscription_id, a.destination_id;
end
$$;

-- howdah._firsts(p_topics, p_after, p_after_seqs, p_slots, p_upto): the first message of topics after each of several places.
--
-- Returns  the place's number, and seq and sent_at of the message; no row where there is none.
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- Each table by its own name, as in howdah._topic_page.
create or replace function howdah._firsts(p_topics integer[], p_after xid8[], p_after_seqs bigint[], p_slots integer[], p_upto pg_snapshot)
returns table (number bigint, seq bigint, sent_at timestamptz)
language plpgsql volatile rows 100
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
    v_to constant xid8 := pg_snapshot_xmax(p_upto);
begin
    if p_slots = array[0] then
        return query
        select u.number, r.seq, r.sent_at
        from unnest(p_topics, p_after, p_after_seqs) with ordinality u(topic, after, after_seq, number)
        cross join lateral howdah._rows_0(u.topic, u.after, u.after_seq, v_to, null, p_upto, null, 1) r;
    elsif p_slots = array[1] then
        return query
        select u.number, r.seq, r.sent_at
        from unnest(p_topics, p_after, p_after_seqs) with ordinality u(topic, after, after_seq, number)
        cross join lateral howdah._rows_1(u.topic, u.after, u.after_seq, v_to, null, p_upto, null, 1) r;
    elsif p_slots = array[2] then
        return query
        select u.number, r.seq, r.sent_at
        from unnest(p_topics, p_after, p_after_seqs) with ordinality u(topic, after, after_seq, number)
        cross join lateral howdah._rows_2(u.topic, u.after, u.after_seq, v_to, null, p_upto, null, 1) r;
    else
        return query
        select u.number, r.seq, r.sent_at
        from unnest(p_topics, p_after, p_after_seqs) with ordinality u(topic, after, after_seq, number)
        cross join lateral howdah._topic_page(p_slots, u.topic, u.after, u.after_seq, v_to, p_upto, 1) r;
    end if;
end
$$;
