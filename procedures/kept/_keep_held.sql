-- howdah._keep_held(p_destination, p_message_ids, p_priorities, p_positions): keep messages that the transaction holds
-- and is about to consume.
--
-- Role     internal
create or replace function howdah._keep_held(
    p_destination howdah.destinations, p_message_ids bigint[], p_priorities integer[], p_positions bigint[]
) returns void
language plpgsql volatile
as $$
begin
    perform howdah._keep_stored(p_destination, h.messages, h.nonpersistent)
    from (
        with wanted as (
            select distinct w.message_id, 9 - w.priority::bigint as rank, w.seq
            from unnest(p_message_ids, p_priorities, p_positions) w(message_id, priority, seq)
        )
        select array_agg(f.message) as messages, f.nonpersistent
        from (
            select m as message, false as nonpersistent from wanted w join howdah.msgs m
                on m.destination_id = p_destination.id and m.rank = w.rank and m.seq = w.seq
                    and m.message_id = w.message_id
            union all
            select howdah._as_ready(n), true from wanted w join howdah.msgs_nonpersistent n
                on n.destination_id = p_destination.id and n.rank = w.rank and n.seq = w.seq
                    and n.message_id = w.message_id
            union all
            select howdah._as_ready(p), p.boot is not null from wanted w join howdah.parked p
                on p.destination_id = p_destination.id and p.message_id = w.message_id
        ) f
        group by f.nonpersistent
    ) h;
end
$$;
