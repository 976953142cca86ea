-- howdah._keep_held(p_destination, p_message_ids, p_priorities, p_positions): keep messages that the transaction holds
-- and is about to consume.
--
-- Role     internal
create or replace function howdah._keep_held(
    p_destination howdah.destinations, p_message_ids bigint[], p_priorities integer[], p_positions bigint[]
) returns void
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
begin
    perform howdah._keep_stored(p_destination, h.messages, h.nonpersistent)
    from (
        select array_agg(f.message) as messages, f.nonpersistent
        from (
            select m as message, false as nonpersistent from howdah.msgs m
            where m.ctid = any (howdah._ready_rows(p_destination.id, p_message_ids, p_priorities, p_positions))
            union all
            select howdah._as_ready(n), true from howdah.msgs_nonpersistent n
            where n.ctid = any (howdah._nonpersistent_rows(p_destination.id, p_message_ids, p_priorities, p_positions))
            union all
            select howdah._as_ready(p), p.boot is not null from howdah.parked p
            where p.ctid = any (howdah._parked_rows(p_destination.id, p_message_ids))
        ) f
        group by f.nonpersistent
    ) h;
end
$$;
