-- howdah._lag(p_ack): how far a cursor is behind.
--
-- Returns  one row. It has the number of positions from the first unread message to the last one given out, and when
--          that message was sent. A NULL there means that the cursor is at the end. It also has how many messages were
--          delivered.
-- Role     internal
--
-- It reads one message, however many there are.
create or replace function howdah._lag(p_ack howdah.acks) returns table (
    behind bigint, oldest timestamptz, delivered bigint
)
language plpgsql volatile
as $$
declare
    v_at record;
    v_upto pg_snapshot := howdah._snapshot();
    v_segment record;
    v_first record;
begin
    select c as cursor, c.delivered, pg_sequence_last_value(d.positions) as last,
        (select count(*) from howdah.acked a where a.ack_id = p_ack.id) as acked
    into v_at
    from howdah.ack_cursors c cross join howdah.destinations d
    where c.ack_id = p_ack.id and d.id = p_ack.destination_id order by c.n desc limit 1;
    delivered := v_at.delivered + v_at.acked;
    behind := 0;
    for v_segment in select * from howdah._segments(v_at.cursor, p_ack.destination_id, v_upto) loop
        select p.seq, p.sent_at into v_first
        from howdah._topic_page(v_segment.slots, p_ack.destination_id, v_segment.from_xid, v_segment.from_seq,
            v_segment.to_xid, v_upto, 1) p;
        if found then
            oldest := least(oldest, v_first.sent_at);
            behind := greatest(behind, v_at.last - v_first.seq + 1, 1);
        end if;
    end loop;
    return next;
end
$$;
