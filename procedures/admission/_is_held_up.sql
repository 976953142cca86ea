-- howdah._is_held_up(p_destination_id, p_now): whether messages of a queue of strict order must wait for one that
-- cannot be taken.
--
-- Returns  boolean; true if a message is leased, delayed or blocked. It is also true if the message is due, but another
--          open transaction has it in hand. That transaction acknowledges it, gives it back, extends its lease or
--          retries it.
-- Role     internal
--
-- The caller has the turn. Leases that ran out are returned first. A message in hand is recognised by its
-- row lock, which this call tries and releases. The lease is read after that, so that an extension meanwhile is seen.
create or replace function howdah._is_held_up(p_destination_id integer, p_now timestamptz) returns boolean
language plpgsql volatile
    set enable_seqscan = off set jit = off
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
