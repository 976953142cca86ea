-- howdah._close_dead(p_destination_id, p_now, p_but): close the consumers of a queue that are gone, except p_but.
--
-- Returns  how many were closed (bigint).
-- Role     internal
--
-- A consumer is gone if it is in no transaction, and was silent for longer than its timeout or lost its session. An
-- open transaction and an own session each hold a lock, which this call tries. It tries the locks only of consumers
-- that may be gone, because a receive is refused meanwhile. The leases of a consumer that lost its session end, too.
create or replace function howdah._close_dead(
    p_destination_id integer, p_now timestamptz, p_but integer default null
) returns bigint
language plpgsql volatile
as $$
declare
    v_dead integer[];
    v_leases bigint[];
    v_count bigint;
begin
    v_dead := array(
        select l.id
        from (select c.id from howdah.consumers c
              where c.destination_id = p_destination_id and c.id is distinct from p_but
                and (c.own_session or c.seen_at < p_now - c.timeout_ms * interval '1 millisecond')
              offset 0) l
        where case when pg_try_advisory_xact_lock(howdah._lock_key('consumer', l.id::text))
            then pg_try_advisory_xact_lock(howdah._lock_key('consumer at work', l.id::text))
                and not howdah._is_own_session(l.id) end);
    if cardinality(v_dead) = 0 then
        return 0;
    end if;
    v_dead := array(select c.id from howdah.consumers c where c.id = any (v_dead) for update skip locked);
    with gone as (delete from howdah.consumer_leases l where l.consumer_id = any (v_dead) returning l.lease_id)
    select array_agg(g.lease_id) into v_leases from gone g;
    if v_leases is not null then
        perform howdah._end_leases_of(p_destination_id, v_leases, p_now);
    end if;
    delete from howdah.consumers c where c.id = any (v_dead);
    get diagnostics v_count = row_count;
    return v_count;
end
$$;
