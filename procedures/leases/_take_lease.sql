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
language plpgsql volatile
as $$
declare
    v_taken bigint;
begin
    perform howdah._open_lane(p_destination.id, h.rank, 0)
    from (select distinct 9 - u.priority as rank from unnest(p_held) u) h;
    with held as (
        select u.message_id, 9 - u.priority::bigint as rank, u."position" as seq from unnest(p_held) u
    ), ready as (
        delete from howdah.msgs m using held h
        where m.destination_id = p_destination.id and m.rank = h.rank and m.seq = h.seq and m.message_id = h.message_id
        returning m.*
    ), nonpersistent as (
        delete from howdah.msgs_nonpersistent n using held h
        where n.destination_id = p_destination.id and n.rank = h.rank and n.seq = h.seq and n.message_id = h.message_id
        returning n as stored
    ), again as (
        delete from howdah.parked p using held h
        where p.destination_id = p_destination.id and p.message_id = h.message_id
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
        perform howdah._lease_published(p_destination, array(select u.message_id from unnest(p_held) u), p_lease,
            p_until);
    end if;
end
$$;
