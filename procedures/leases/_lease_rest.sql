-- howdah._lease_rest(p_destination_id, p_name, p_rank, p_lease, p_until, p_seqs, p_locked, p_now, p_limit): lease those
-- messages that are not usual.
--
-- Returns  howdah.message of each.
-- Role     internal
--
-- Expired messages and those at their limit are disposed of. A moved message lies at another position than its id says.
-- It goes to parked, because a row of leased has no column for its position.
create or replace function howdah._lease_rest(
    p_destination_id integer, p_name text, p_rank smallint, p_lease bigint, p_until timestamptz, p_seqs bigint[],
    p_locked boolean, p_now timestamptz, p_limit integer
) returns setof howdah.message
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
declare
    v_message howdah.msgs;
    v_failures integer;
    v_weight integer;
begin
    for v_message in
        select m.* from howdah.msgs m
        where m.destination_id = p_destination_id and m.rank = p_rank
          and m.seq between p_seqs[1] and p_seqs[cardinality(p_seqs)]
          and m.seq = any (p_seqs) and (p_locked or m.xmax = 0)
        order by m.seq for update skip locked
    loop
        delete from howdah.msgs m where m.destination_id = p_destination_id and m.rank = p_rank
            and m.seq = v_message.seq;
        select coalesce(max(f.failures), 0), coalesce(max(f.weight), 0) into v_failures, v_weight
        from howdah._count_failures(p_destination_id, array[v_message.message_id], array[v_message.stage],
            array[v_message.conversation_id], array[howdah._group(v_message.headers, v_message.conversation_id)]) f
        where f.stage = v_message.stage;
        if v_message.expires_at <= p_now or v_weight >= p_limit then
            perform howdah._dispose(p_destination_id, v_message, false, null, p_now);
        else
            insert into howdah.parked select (v_message).*, p_until, 'lease', null, p_lease;
            return next howdah._message(v_message, p_name, false, v_failures);
        end if;
    end loop;
end
$$;
