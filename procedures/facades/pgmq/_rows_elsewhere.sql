-- pgmq._rows_elsewhere(p_destination_id, p_rank, p_message_ids): where ready persistent messages lie that are not in
-- the lane p_rank, or not at the position that their numbers say.
--
-- Returns  tid[].
-- Role     internal
create or replace function pgmq._rows_elsewhere(p_destination_id integer, p_rank smallint, p_message_ids bigint[])
returns tid[]
language plpgsql stable set enable_seqscan = off set jit = off
as $$
begin
    if not exists (select from howdah.lanes l where l.destination_id = p_destination_id
               and (l.rank <> p_rank or l.place > 0))
       and not exists (select from howdah.moved o
               where o.message_id = any (p_message_ids) and o.destination_id = p_destination_id) then
        return '{}';
    end if;
    return (
        select howdah._ready_rows(p_destination_id, array_agg(k.message_id), array_agg(9 - k.rank), array_agg(k.seq))
        from howdah._named_keys(p_destination_id, p_message_ids) k
        where not (k.rank = p_rank and k.seq = k.message_id / 1000000));
end
$$;
