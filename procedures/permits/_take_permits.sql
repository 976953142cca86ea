-- howdah._take_permits(p_id, p_key, p_most, p_want, p_own): take permits of a limit of concurrency until the
-- transaction ends.
--
-- Returns  their numbers, 1 to p_most; fewer than p_want, or none, if no more are free (integer[]).
-- Role     internal
--
-- A permit is an advisory lock with a number. It ends with the transaction, also if the session is killed, so there is
-- nothing to clean up. A leased message's permit passes from the lock to its row in leased_permits. The leasing
-- transaction holds the lock until others see that row. So a permit is free if its lock can be had and no row is seen
-- after that.
--
-- The first permit tried is a random one, so that consumers do not all try the same. Before it come p_own: permits of
-- leases that ran out and whose messages the transaction has. Otherwise both permits would be in use. A transaction's
-- own locks never refuse it, so permits_in_hand records what it has.
--
-- Leases with higher numbers are from before the limit was lowered. They count: the call holds back as many of the last
-- permits until those leases end.
create or replace function howdah._take_permits(
    p_id integer, p_key text, p_most integer, p_want integer, p_own integer[] default '{}'
) returns integer[]
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
declare
    v_key uuid := howdah._permit_key(p_key);
    v_base bigint := howdah._permit_base(p_id, v_key);
    v_first integer := floor(random() * p_most);
    v_taken integer[] := '{}';
    v_used integer[] := howdah._leased_permits(p_id, v_key)
        || array(select h.permit from howdah.permits_in_hand h
                 where h.xid = pg_current_xact_id_if_assigned() and h.destination_id = p_id and h.key = v_key);
    v_permit integer;
    v_stale tid[];
    v_last integer := p_most;
begin
    if p_most < any (v_used) then
        v_last := (select coalesce(max(n), 0) from generate_series(0, p_most) n
                   where n + (select count(distinct u.permit) from unnest(v_used) u(permit) where u.permit > n)
                       <= p_most);
    end if;
    for v_next in -cardinality(p_own)..v_last - 1 loop
        exit when cardinality(v_taken) >= p_want;
        v_permit := case when v_next < 0 then p_own[-v_next] else 1 + (v_first + v_next) % v_last end;
        continue when v_permit > v_last or v_permit = any (v_used || v_taken)
            or not pg_try_advisory_xact_lock(v_base + v_permit);
        v_stale := array(select l.ctid from howdah.leased_permits l
                         where l.destination_id = p_id and l.key = v_key and l.permit = v_permit);
        if cardinality(v_stale) > 0 then
            continue when v_permit = any (howdah._leased_permits(p_id, v_key));  -- it was leased in between
            delete from howdah.leased_permits d where d.ctid = any (array(
                select l.ctid from howdah.leased_permits l where l.ctid = any (v_stale) for update skip locked));
        end if;
        v_taken := v_taken || v_permit;
    end loop;
    return v_taken;
end
$$;
