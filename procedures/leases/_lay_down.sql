-- howdah._lay_down(p_destination_id, p_lease, p_message_ids, p_until): move messages of a lease to parked, where each
-- has its own end.
--
-- Returns  the number of messages (bigint). Messages that somebody else is receiving, because the lease ran out, are
--          skipped.
-- Role     internal
--
-- p_message_ids NULL: all of them. p_until NULL: they end when the lease does. Until the lease ends, only a call that
-- extends it, gives messages back or acknowledges them can hold its messages; this call waits for that.
create or replace function howdah._lay_down(
    p_destination_id integer, p_lease bigint, p_message_ids bigint[], p_until timestamptz
) returns bigint
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
declare
    v_lease howdah.leases;
    v_grouped boolean;
    v_count bigint := 0;
begin
    select l.* into v_lease from howdah.leases l where l.lease_id = p_lease and l.destination_id = p_destination_id;
    if found then
        if v_lease.until > howdah.now() then
            perform from howdah.leased c
            where c.destination_id = p_destination_id and c.rank = v_lease.rank and c.seq >= p_lease << 20
              and c.seq < (p_lease + 1) << 20
              and (p_message_ids is null or c.message_id = any (p_message_ids))
            order by c.seq for update;
        end if;
        -- groups that were switched on since
        v_grouped := (select d.message_groups <> 'none' from howdah.destinations d where d.id = p_destination_id);
        with gone as (
            delete from howdah.leased m where m.ctid = any (array(
                select c.ctid from howdah.leased c
                where c.destination_id = p_destination_id and c.rank = v_lease.rank and c.seq >= p_lease << 20
                  and c.seq < (p_lease + 1) << 20
                  and (p_message_ids is null or c.message_id = any (p_message_ids))
                order by c.seq for update skip locked))
            returning m
        )
        insert into howdah.parked
        select (howdah._unleased(g.m)).*, coalesce(p_until, v_lease.until), 'lease', null, p_lease,
            case when v_grouped then howdah._group((g.m).headers, (g.m).conversation_id) end
        from gone g;
        get diagnostics v_count = row_count;
        perform howdah._forget_lease(v_lease);
    end if;
    return v_count;
end
$$;
