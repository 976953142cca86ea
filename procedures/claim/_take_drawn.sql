-- howdah._take_drawn(p_destination_id, p_rank, p_name, p_positions, p_now, p_failed, p_journaled): receive the messages
-- at positions that the caller has drawn.
--
-- Returns  howdah.message of each, in order; expired messages are disposed of instead. With p_failed, a message that
--          ever failed stays where it is, for the search to find.
-- Role     internal
--
-- Nobody had these rows (xmax = 0), so a failure on record is older than its message's row. The statement's snapshot
-- shows both or neither. p_failed: something failed in the queue.
--
-- The index gives the rows in order. The range condition is for PostgreSQL up to 16, which may use the array only as a
-- filter. It would then read the dead rows of the whole lane.
create or replace function howdah._take_drawn(
    p_destination_id integer, p_rank smallint, p_name text, p_positions bigint[], p_now timestamptz,
    p_failed boolean, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
begin
    return query
    with taken as materialized (
        delete from howdah.msgs m
        where m.destination_id = p_destination_id and m.rank = p_rank
          and m.seq between p_positions[1] and p_positions[cardinality(p_positions)] and m.seq = any (p_positions)
          and m.xmax = 0
          and not (p_failed and exists (select from howdah.poison_details p where p.message_id = m.message_id))
        returning m.*
    ), journaled as (
        insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)
        select p_now, p_destination_id, 'consumed', array_agg(c.message_id), min(c.sent_at)
        from taken c where (c.expires_at > p_now) is not false and p_journaled
        having count(*) > 0
    )
    select c.message_id, p_name,
        FIRST_DELIVERY_OF c ELSE howdah._take_body(c.message_id)
    from taken c
    where (c.expires_at > p_now) is not false
       or howdah._dispose(p_destination_id, row(c.*)::howdah.msgs, false, null, p_now);
end
$$;
