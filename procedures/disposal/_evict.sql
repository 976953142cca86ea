-- howdah._evict(p_destination, p_messages, p_bytes, p_rank): remove messages from a full queue by its limit_behaviour.
--
-- Returns  true if any message was removed (boolean).
-- Role     internal
--
-- It removes as many as make room for p_messages and p_bytes, or all there are. It takes the oldest, or the oldest of
-- the lowest priority. It takes none above the priority of p_rank then. Ready messages go before those that wait for a
-- time.
--
-- Messages that a transaction or a lease holds stay. The call looks past 100 of them; if it then has removed nothing,
-- it looks past 100,000.
create or replace function howdah._evict(
    p_destination howdah.destinations, p_messages bigint, p_bytes bigint, p_rank integer
) returns boolean
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_lowest constant boolean := p_destination.limit_behaviour = 'remove_lowest_priority';
    v_reason constant text := case when v_lowest then 'LOW_PRIORITY' else 'OLDEST' end;
    v_oldest record;
    v_message howdah.msgs;
    v_any boolean := false;
    v_beside bigint;
begin
    perform howdah._return_leases(p_destination.id, greatest(p_messages, 0) + 100, howdah.now());
    foreach v_beside in array array[100, 100000] loop
        for v_oldest in
            select o.place, o.rank, o.seq, o.message_id
            from generate_series(case when v_lowest then p_rank else 0 end, 9) r(rank)
            cross join lateral (
                (select 0 as place, m.rank, m.seq, m.message_id from howdah.msgs m
                 where m.destination_id = p_destination.id and m.rank = r.rank order by m.seq
                 limit p_messages + v_beside)
                union all
                (select 1, n.rank, n.seq, n.message_id from howdah.msgs_nonpersistent n
                 where n.destination_id = p_destination.id and n.rank = r.rank and n.boot = pg_postmaster_start_time()
                 order by n.seq limit p_messages + v_beside)
                union all
                (select 2, p.rank, p.seq, p.message_id from howdah.parked p
                 where p.destination_id = p_destination.id and p.rank = r.rank
                   and (p.parked_reason <> 'lease' or p.due_at <= howdah.now())
                 order by p.due_at, p.seq limit p_messages + v_beside)) o
            order by o.place = 2, case when v_lowest then -o.rank end, o.seq
        loop
            exit when p_messages <= 0 and p_bytes <= 0;
            v_message := null;
            if v_oldest.place = 0 then
                delete from howdah.msgs m where m.ctid = any (array(
                    select c.ctid from howdah.msgs c
                    where c.destination_id = p_destination.id and c.rank = v_oldest.rank and c.seq = v_oldest.seq
                    for update skip locked))
                returning m.* into v_message;
            elsif v_oldest.place = 1 then
                delete from howdah.msgs_nonpersistent n where n.ctid = any (array(
                    select c.ctid from howdah.msgs_nonpersistent c
                    where c.destination_id = p_destination.id and c.rank = v_oldest.rank and c.seq = v_oldest.seq
                    for update skip locked))
                returning (howdah._as_ready(n)).* into v_message;
            else
                delete from howdah.parked p where p.ctid = any (array(
                    select c.ctid from howdah.parked c
                    where c.ctid = any (howdah._parked_rows(p_destination.id, array[v_oldest.message_id]))
                    for update skip locked))
                returning (howdah._as_ready(p)).* into v_message;
            end if;
            continue when v_message.message_id is null;
            v_any := true;
            p_messages := p_messages - 1;
            p_bytes := p_bytes - howdah._body_bytes(v_message.body, v_message.message_id);
            perform howdah._dispose_evicted(p_destination, v_message, v_oldest.place = 1, v_reason);
        end loop;
        exit when v_any;
    end loop;
    if v_any then
        perform howdah._log_limit(p_destination);
    end if;
    return v_any;
end
$$;
