-- howdah._set_mark(p_destination_id, p_tail, p_settled, p_numberless, p_ask): set a new mark of a queue, if what the
-- last mark waits for has happened.
--
-- Role     internal
--
-- p_tail is the last position given out; whoever drew a position up to it had a transaction id before. p_settled is the
-- result of howdah._seen_up_to.
--
-- p_numberless: this transaction had no id when p_tail was read, so the id that it gets is higher than those. The
-- server does not tell the next id: a snapshot's xmax follows the last id that has *ended*.
--
-- The mark holds the position modulo 2^31 and the id modulo 2^32, in a sequence that howdah._note_special creates. The
-- first mark has no position, because claims from the time of a plain queue may still be open. Once they have ended,
-- the heads that they moved are reset.
create or replace function howdah._set_mark(
    p_destination_id integer, p_tail bigint, p_settled bigint, p_numberless boolean, p_ask boolean
) returns void
language plpgsql volatile
as $$
declare
    v_sequence regclass := to_regclass('howdah.mark_' || p_destination_id);
    v_mark bigint := howdah._hint(v_sequence);
    v_next bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
begin
    if v_mark = 0 or p_settled = 0 and (v_mark - v_next) & 4294967295 between 1000000 and 2147483648 then
        -- there was none, or it waits for an id that is still to come, such as a restored database's or one of long ago
        p_tail := 0;
    elsif v_mark >> 32 = 0 and howdah._are_over((select d.positions from howdah.destinations d
        where d.id = p_destination_id), v_mark, p_ask) then
        perform setval(s.head, 0) from howdah.selections s
        where s.destination_id = p_destination_id and s.head is not null;
        perform setval(d.head, 0) from howdah.destinations d where d.id = p_destination_id;
        perform setval(l.head, 0) from howdah.lanes l
        where l.destination_id = p_destination_id and l.place = 2 and l.head is not null;
    elsif p_settled = 0 then
        return;
    end if;
    if p_numberless then
        v_next := pg_current_xact_id()::text::bigint;
    else
        v_next := v_next + coalesce((select max(o.distance) + 1
                                     from (select (l.transactionid::text::bigint - v_next) & 4294967295 as distance
                                         from pg_locks l
                                           where l.locktype = 'transactionid' and l.mode = 'ExclusiveLock') o
                                     where o.distance < 2147483648), 0);
    end if;
    if howdah._hint(v_sequence) <> v_mark then
        return;  -- another transaction has set it meanwhile
    end if;
    p_tail := p_tail - (p_tail > 0 and p_tail & 2147483647 = 0)::integer;  -- no position looks like the first mark's
    perform setval(v_sequence, (p_tail & 2147483647) << 32 | (v_next & 4294967295));
end
$$;
