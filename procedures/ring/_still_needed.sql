-- howdah._still_needed(p_slot): the messages of a closed table that somebody still needs.
--
-- Returns  destination_id, xid and seq of each.
-- Role     internal
--
-- A message is needed if a subscription has not read it, the topic's retention keeps it, or its recovery policy keeps
-- it for late subscribers. A dropped topic keeps nothing. A message that has expired is needed only while it is leased:
-- its holder may acknowledge it. Over 10,000, not all are returned: nobody needs to know which.
create or replace function howdah._still_needed(p_slot integer) returns table (
    destination_id integer, xid xid8, seq bigint
)
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
begin
    return query execute format(
        'with stored as not materialized (
            select s.destination_id, s.xid, s.seq, s.sent_at, s.expires_at from howdah.topic_msgs_%1$s s
            union all
            select s.destination_id, s.xid, s.seq, s.sent_at, s.expires_at
            from howdah.topic_nonpersistent_%1$s s where s.boot = pg_postmaster_start_time()
        )
        select a.destination_id, n.xid, n.seq
        from howdah.acks a
        cross join lateral howdah._cursor(a.id) c
        cross join lateral (
            select s.xid, s.seq from stored s
            where s.destination_id = a.destination_id and s.xid >= pg_snapshot_xmin(c.snapshot)
              and not howdah._is_passed(c, s.xid, s.seq)
              and ((s.expires_at <= $1) is not true or exists (
                  select from howdah.acked d where d.ack_id = a.id and d.seq = s.seq and d.lease_id is not null))
              and not exists (select from howdah.acked d where d.ack_id = a.id and d.seq = s.seq and d.lease_id is null)
            limit 10001
        ) n
        union
        select t.destination_id, n.xid, n.seq
        from howdah.topics t
        join howdah.destinations d on d.id = t.destination_id and d.dropped_at is null
        cross join lateral (
            select s.xid, s.seq from stored s
            where s.destination_id = t.destination_id and (s.expires_at <= $1) is not true
              and s.sent_at > $1 - greatest(t.retain_ms,
              case when t.recovery = ''timed'' then t.recovery_amount end) * interval ''1 millisecond''
            limit 10001
        ) n
        where t.retain_ms is not null or t.recovery = ''timed''
        union
        select t.destination_id, n.xid, n.seq
        from howdah.topics t
        join howdah.destinations d on d.id = t.destination_id and d.dropped_at is null
        cross join lateral (
            select s.xid, s.seq
            from (
                select h.xid, h.seq, row_number() over w as back, sum(octet_length(h.body)) over w as bytes,
                    h.headers -> ''retain'' = ''true'' as retain,
                    row_number() over (partition by h.headers -> ''retain'' = ''true'' order by h.seq desc) as retained
                from howdah._history(t.destination_id, null) h
                window w as (order by h.seq desc)
            ) k
            join stored s on s.destination_id = t.destination_id and s.xid = k.xid and s.seq = k.seq
            where k.bytes <= t.retain_bytes
               or case t.recovery
                    when ''last_image'' then k.back = 1
                    when ''retained'' then k.retain and k.retained = 1
                    when ''fixed_count'' then k.back <= t.recovery_amount
                    when ''fixed_size'' then k.bytes <= t.recovery_amount
                    else false end
            limit 10001
        ) n
        where t.retain_bytes is not null
          or t.recovery in (''last_image'', ''retained'', ''fixed_count'', ''fixed_size'')', p_slot)
    using v_now;
end
$$;
