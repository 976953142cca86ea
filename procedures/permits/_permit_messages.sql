-- howdah._permit_messages(p_queue, p_messages, p_hold): take permits for messages that the transaction
-- has, and spend rates for them.
--
-- Returns  room: for how many there was room. If that is less than all, the caller must give back all messages, and the
--          permits that were taken. by_key: the limit of the key left too little.
-- Role     internal
--
-- In a queue that is limited by key there is one message. With p_hold, the messages may come under a lease in this
-- transaction. Their permits are noted, so that they stay in use as long as that lease.
create or replace function howdah._permit_messages(
    p_queue howdah.destinations, p_messages howdah.message[], p_hold boolean, out room integer, out by_key boolean
) returns record
language plpgsql volatile
as $$
declare
    v_want integer := cardinality(p_messages);
    v_key text := case when howdah._is_limited_by_key(p_queue) then p_messages[1].headers ->> p_queue.limit_key end;
    v_permits integer[] := '{}';
    v_of_key integer[] := '{}';
begin
    room := v_want;
    by_key := false;
    if p_queue.max_concurrent is not null then
        v_permits := howdah._take_permits(p_queue.id, null, p_queue.max_concurrent, v_want,
            howdah._old_permits(p_queue.id, null, p_messages));
        room := cardinality(v_permits);
    end if;
    if room = v_want and p_queue.max_concurrent_per_key is not null and v_key is not null then
        v_of_key := howdah._take_permits(p_queue.id, v_key, p_queue.max_concurrent_per_key, v_want,
            howdah._old_permits(p_queue.id, v_key, p_messages));
        room := cardinality(v_of_key);
        by_key := room < v_want;
    end if;
    if room = v_want and (p_queue.rate_limit is not null or p_queue.rate_limit_per_key is not null) then
        select d.room, d.by_key into room, by_key from howdah._draw_rate(p_queue, v_key, v_want) d;
    end if;
    if room < v_want or v_permits || v_of_key = '{}' then
        return;
    end if;
    with permits as (
        select u.key, u.permit, u.n
        from (select howdah._permit_key(null) as key, o.permit, o.n from unnest(v_permits) with ordinality o(permit, n)
              union all
              select howdah._permit_key(v_key), k.permit, k.n from unnest(v_of_key) with ordinality k(permit, n)) u
    ), noted as (
        insert into howdah.permits_in_hand (xid, destination_id, key, permit)
        select pg_current_xact_id(), p_queue.id, p.key, p.permit from permits p
    )
    insert into howdah.leased_permits (destination_id, key, permit, message_id)
    select p_queue.id, p.key, p.permit, p_messages[p.n].message_id from permits p where p_hold;
end
$$;
