-- howdah._ready_rows(p_destination_id, p_message_ids, p_priorities, p_positions): where ready persistent messages lie,
-- found along the key.
--
-- Returns  tid[].
-- Role     internal
--
-- Each is looked up on its own. A join was once planned while its queue was empty: it then read the whole queue for
-- each batch.
create or replace function howdah._ready_rows(
    p_destination_id integer, p_message_ids bigint[], p_priorities integer[], p_positions bigint[]
) returns tid[]
language plpgsql stable set enable_seqscan = off set jit = off
as $$
begin
    return array(
        select k.ctid from unnest(p_message_ids, p_priorities, p_positions) w(message_id, priority, seq)
        cross join lateral (
            select m.ctid from howdah.msgs m
            where m.destination_id = p_destination_id and m.rank = 9 - w.priority::bigint and m.seq = w.seq
              and m.message_id = w.message_id
            offset 0) k);
end
$$;
