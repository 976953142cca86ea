-- howdah._end_stream(p_stream, p_total): move the cursor to the end after p_total messages were read and there are no
-- more, if that saves work later.
--
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- An idle reader writes only where it would otherwise walk over the passed messages again and again.
create or replace function howdah._end_stream(p_stream record, p_total bigint) returns void
language plpgsql volatile
as $$
begin
    perform howdah._same_ring(p_stream.ring);
    if p_total > 0 or (p_stream.ack_cursor).seq >= 0
       or pg_snapshot_xmax(p_stream.done)::text::bigint - p_stream.late::text::bigint > 1000 then
        perform howdah._move_cursor(p_stream.ack_cursor, '3', -1, p_total, p_stream.upto);
    end if;
end
$$;
