-- howdah._deliver_locked(p_lane, p_name, p_positions, p_now, p_reason, p_journaled): deliver locked messages of a queue
-- in which nothing ever failed.
--
-- Returns  howdah.message of each, in order; expired messages are disposed of instead.
-- Role     internal
--
-- The journal has the time after the locks. So an event of a group is not older than the one before it, for which this
-- call may have waited. p_reason: what the journal says of them. The lower and the upper end are for PostgreSQL up
-- to 16, as in howdah._take_drawn.
create or replace function howdah._deliver_locked(
    p_lane howdah.lanes, p_name text, p_positions bigint[], p_now timestamptz, p_reason text, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
begin
    return query
    with taken as materialized (
        delete from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank
          and m.seq between p_positions[1] and p_positions[cardinality(p_positions)] and m.seq = any (p_positions)
        returning m.*
    ), journaled as (
        insert into howdah.journal (at, destination_id, event, reason, message_ids, oldest_sent_at)
        select howdah.now(), p_lane.destination_id, 'consumed', p_reason, array_agg(c.message_id), min(c.sent_at)
        from taken c where (c.expires_at > p_now) is not false and p_journaled
        having count(*) > 0
    )
    select c.message_id, p_name,
        FIRST_DELIVERY_OF c ELSE howdah._take_body(c.message_id)
    from taken c
    where (c.expires_at > p_now) is not false
       or howdah._dispose(p_lane.destination_id, row(c.*)::howdah.msgs, false, null, p_now)
    order by c.seq;
end
$$;
