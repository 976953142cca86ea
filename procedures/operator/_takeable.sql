-- howdah._takeable(p_destination, p_message_ids, p_max): the messages that howdah._take_back would take now, for a dry
-- run.
--
-- Returns  id and origin of each. Nothing is locked, so messages that another transaction holds are included.
-- Role     internal
--
-- As there, up to 10,000 named messages are found by their keys. For more, it goes through the destination once.
create or replace function howdah._takeable(p_destination howdah.destinations, p_message_ids bigint[], p_max bigint)
returns table (message_id bigint, origin_id integer)
language plpgsql stable set enable_seqscan = off set jit = off
as $$
begin
    if cardinality(p_message_ids) <= 10000 then
        return query select t.message_id, t.origin_id
        from howdah._takeable_named(p_destination.id, p_message_ids) t
        order by t.place, t.message_id
        limit p_max;
        return;
    end if;
    return query select t.message_id, t.origin_id
    from (
        select m.message_id, m.origin_id, 1 as place from howdah.msgs m
        where m.destination_id = p_destination.id and (p_message_ids is null or m.message_id = any (p_message_ids))
        union all
        select p.message_id, p.origin_id, 2 from howdah.parked p
        where p.destination_id = p_destination.id and (p_message_ids is null or p.message_id = any (p_message_ids))
          and (p.parked_reason <> 'lease' or p.due_at <= howdah.now())
          and (p.boot is null or p.boot = pg_postmaster_start_time())
        union all
        select l.message_id, l.origin_id, 2 from howdah.leased l join howdah.leases h on h.lease_id = l.seq >> 20
        where l.destination_id = p_destination.id and (p_message_ids is null or l.message_id = any (p_message_ids))
          and h.until <= howdah.now()
        union all
        select n.message_id, n.origin_id, 3 from howdah.msgs_nonpersistent n
        where n.destination_id = p_destination.id and n.boot = pg_postmaster_start_time()
          and (p_message_ids is null or n.message_id = any (p_message_ids))
    ) t
    order by t.place, t.message_id
    limit p_max;
end
$$;
