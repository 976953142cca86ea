-- howdah._unread_incidents(p_before): the topic messages that failed before a time, and that their subscription has not
-- read.
--
-- Returns  the subscription (destination_id) and the message of each.
-- Raises   40001 messages were moved meanwhile.
-- Role     internal
--
-- What a cursor has yet to pass is read from the keys of the topic's tables, once for all incidents.
create or replace function howdah._unread_incidents(p_before timestamptz)
returns table (destination_id integer, message_id bigint)
language plpgsql volatile
as $$
declare
    v_ring bigint := howdah._truncations();
begin
    if not exists (select from howdah.subscriptions) then
        return;
    end if;
    -- Each table has a statement of its own: howdah._topic_page.
    -- for N in 0, 1, 2:
    return query
    with failed as materialized (
        select distinct p.destination_id as subscription, p.message_id as number
        from howdah.poison_details p
        join howdah.subscriptions s on s.destination_id = p.destination_id
        where p.recorded_at < p_before
    ), cursors as materialized (
        select a.id, a.destination_id as topic, a.subscription_id as subscription, c as stands,
            case when s.prioritized then 9 - a.priority end as rank
        from howdah.subscriptions s
        join howdah.acks a on a.subscription_id = s.destination_id
        cross join lateral howdah._cursor(a.id) c
        where s.destination_id in (select f.subscription from failed f)
    ), stored as not materialized (
        select t.destination_id as topic, t.xid, t.seq, t.rank from howdah.topic_msgs_N t
        union all
        select t.destination_id, t.xid, t.seq, t.rank from howdah.topic_nonpersistent_N t
        where t.boot = pg_postmaster_start_time()
    )
    select k.subscription, m.seq * 1000000 + m.topic
    from cursors k
    join stored m on m.topic = k.topic and m.xid >= pg_snapshot_xmin((k.stands).snapshot)
    where (k.subscription, m.seq * 1000000 + m.topic) in (select f.subscription, f.number from failed f)
      and not howdah._is_passed(k.stands, m.xid, m.seq)
      and (m.rank = k.rank) is not false
      and not exists (select from howdah.acked d where d.ack_id = k.id and d.seq = m.seq and d.lease_id is null);
    -- end for
    perform howdah._same_ring(v_ring);
end
$$;
