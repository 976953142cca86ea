-- howdah._take_lease(p_destination, p_held, p_lease, p_until): put messages that the caller holds under a lease.
--
-- Role     internal
--
-- They are parked until the lease ends. A receive then finds them, so no daemon is needed. Topic messages stay where
-- they are; acked records the lease.
create or replace function howdah._take_lease(
    p_destination howdah.destinations, p_held howdah.message[], p_lease bigint, p_until timestamptz
)
returns void
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_ids bigint[];
    v_priorities integer[];
    v_positions bigint[];
    v_taken bigint;
begin
    select array_agg(u.message_id), array_agg(u.priority), array_agg(u."position")
    into v_ids, v_priorities, v_positions from unnest(p_held) u;
    perform howdah._open_lane(p_destination.id, h.rank, 0)
    from (select distinct 9 - u.priority as rank from unnest(v_priorities) u(priority)) h;
    with ready as (
        delete from howdah.msgs m
        where m.ctid = any (howdah._ready_rows(p_destination.id, v_ids, v_priorities, v_positions))
        returning m.*
    ), nonpersistent as (
        delete from howdah.msgs_nonpersistent n
        where n.ctid = any (howdah._nonpersistent_rows(p_destination.id, v_ids, v_priorities, v_positions))
        returning n as stored
    ), again as (
        delete from howdah.parked p where p.ctid = any (howdah._parked_rows(p_destination.id, v_ids))
        returning p as stored
    ), leased as (
        insert into howdah.parked
        select l.*, case when p_destination.message_groups <> 'none'
            then howdah._group(l.headers, l.conversation_id) end
        from (
            select r.*, p_until, 'lease', null::timestamptz, p_lease from ready r
            union all
            select (howdah._as_ready(n.stored)).*, p_until, 'lease', (n.stored).boot, p_lease from nonpersistent n
            union all
            select (howdah._as_ready(a.stored)).*, p_until, 'lease', (a.stored).boot, p_lease from again a
        ) l
        returning 1
    )
    select count(*) into v_taken from leased;
    if v_taken < cardinality(p_held) then
        perform howdah._lease_published(p_destination, v_ids, p_lease, p_until);
    end if;
end
$$;
