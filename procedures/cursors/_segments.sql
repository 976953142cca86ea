-- howdah._segments(p_cursor, p_topic, p_upto): the ranges of transactions in which a cursor may find messages, in
-- reading order.
--
-- Returns  for each range, the message it begins after (from_xid, from_seq), its last transaction, and the tables it
--          may lie in.
-- Role     internal
--
-- First comes the rest of the transaction passed in part. Then comes each transaction that was open at the cursor and
-- has ended since, if it published. Then come those begun later, joined with that rest if nothing lies between.
create or replace function howdah._segments(p_cursor howdah.ack_cursors, p_topic integer, p_upto pg_snapshot)
returns table (from_xid xid8, from_seq bigint, to_xid xid8, slots integer[])
language plpgsql volatile
as $$
declare
    v_xmax constant xid8 := pg_snapshot_xmax(p_cursor.snapshot);
    v_late xid8[] := array(
        select s.xid from pg_snapshot_xip(p_cursor.snapshot) s(xid) where pg_visible_in_snapshot(s.xid, p_upto)
        order by p_cursor.seq >= 0 and s.xid = p_cursor.xid desc, s.xid);
begin
    if cardinality(v_late) > 0 and p_cursor.seq >= 0 and p_cursor.xid = v_xmax then
        v_late := v_xmax || v_late;
    end if;
    if cardinality(v_late) > 0 then
        slots := howdah._slots_from((select min(l.xid) from unnest(v_late) l(xid)));
        foreach to_xid in array v_late loop
            from_xid := to_xid;
            from_seq := case when to_xid = p_cursor.xid then p_cursor.seq else -1 end;
            if exists (select from howdah._topic_page(slots, p_topic, from_xid, from_seq, to_xid, p_upto, 1)) then
                return next;
            end if;
        end loop;
    end if;
    from_xid := v_xmax;
    from_seq := case when from_xid <> p_cursor.xid then -1 when v_late[1] = v_xmax then 9223372036854775807
        else p_cursor.seq end;
    to_xid := pg_snapshot_xmax(p_upto);
    slots := howdah._slots_from(from_xid);
    return next;
end
$$;
