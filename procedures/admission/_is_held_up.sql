-- howdah._is_held_up(p_destination_id, p_now): whether messages of a queue of strict order must wait for one that is
-- not there.
--
-- Returns  boolean: one is leased, delayed or blocked; or it is due, and another transaction, which is still open, has
--          it in hand: it acknowledges it, gives it back, extends its lease or retries it.
-- Role     internal
--
-- The caller has the turn. Whoever is in hand is seen by the lock on its row, which is tried and let go of again; after
-- that, so that a lease that was extended meanwhile is seen as such.
create or replace function howdah._is_held_up(p_destination_id integer, p_now timestamptz) returns boolean
language plpgsql volatile
    set enable_seqscan = off
as $$
declare
    v_reasons text[] := array['redelivery', 'blocked', 'quarantine', 'lease'];
    v_in_hand boolean := false;
begin
    perform howdah._return_leases(p_destination_id, null, p_now);
    if exists (select from howdah.parked p
               where p.destination_id = p_destination_id and p.parked_reason = any (v_reasons) and p.due_at <= p_now
                 and p.xmax <> 0) then
        begin
            v_in_hand := (select count(*) from howdah.parked p
                          where p.destination_id = p_destination_id and p.parked_reason = any (v_reasons)
                            and p.due_at <= p_now)
                > (select count(*) from (select from howdah.parked p
                                         where p.destination_id = p_destination_id and p.parked_reason = any (v_reasons)
                                           and p.due_at <= p_now
                                         for update skip locked) f);
            raise exception 'the locks go with this';
        exception when raise_exception then
            null;
        end;
    end if;
    return v_in_hand or exists (
        select from howdah.parked p
        where p.destination_id = p_destination_id and p.parked_reason = any (v_reasons) and p.due_at > p_now
        union all
        select from howdah.leases l cross join lateral howdah._in_lease(p_destination_id, l.lease_id)
        where l.destination_id = p_destination_id);
end
$$;
