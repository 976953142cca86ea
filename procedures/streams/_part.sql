-- howdah._part(p_stream, p_way): a part of a stream that a cursor has not passed, in reading order.
--
-- Returns  the message it begins after (after, after_seq), its last transaction (to_xid), and what is passed in between
--          (done; NULL: nothing). With p_way 1 it is the rest of the transaction that the cursor has passed in part, with
--          2 all that is new, late commits first. Where nothing committed late, both are one part: 2.
-- Role     internal
--
-- p_stream comes from howdah._begin_stream. All is NULL if there is no such part.
create or replace function howdah._part(
    p_stream record, p_way integer, out after xid8, out after_seq bigint, out to_xid xid8, out done pg_snapshot
) returns record
language plpgsql immutable
as $$
declare
    v_cursor howdah.ack_cursors := p_stream.ack_cursor;
    v_joined boolean := v_cursor.seq >= 0 and p_stream.late is null
        and v_cursor.xid::text::bigint + 1 = pg_snapshot_xmax(p_stream.done)::text::bigint;
begin
    if p_way = 2 and not v_joined then
        after := coalesce(p_stream.late, pg_snapshot_xmax(p_stream.done));
        after_seq := -1;
        done := case when p_stream.late is not null then p_stream.done::text::pg_snapshot end;
    elsif (p_way = 2) = v_joined and v_cursor.seq >= 0 then
        after := v_cursor.xid;
        after_seq := v_cursor.seq;
    end if;
    to_xid := case when p_way = 1 then after else pg_snapshot_xmax(p_stream.upto) end;
end
$$;
