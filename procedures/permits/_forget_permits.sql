-- howdah._forget_permits(p_most): delete what is on record of permits of transactions and leases that are over.
--
-- Role     internal
create or replace function howdah._forget_permits(p_most integer) returns void
language plpgsql volatile
as $$
begin
    delete from howdah.permits_in_hand h
    where h.ctid = any (array(
        select o.ctid from howdah.permits_in_hand o
        where o.xid < pg_snapshot_xmin(pg_current_snapshot()) limit p_most));
    delete from howdah.leased_permits l
    where l.ctid = any (array(
        select o.ctid from howdah.leased_permits o
        where not exists (select from howdah.parked p
                          where p.destination_id = o.destination_id and p.message_id = o.message_id
                            and p.parked_reason = 'lease')
        limit p_most for update skip locked));
end
$$;
