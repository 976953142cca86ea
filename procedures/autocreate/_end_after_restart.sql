-- howdah._end_after_restart(): drop the destinations that created themselves before a restart of the server and hold no
-- persistent message.
--
-- Role     internal
--
-- A transaction with an old snapshot would not see what others use, and leaves it to howdah.maintain_autocreated.
create or replace function howdah._end_after_restart() returns void
language plpgsql volatile
as $$
begin
    if howdah._has_old_snapshot() then
        return;
    end if;
    perform howdah._close_dead(c.destination_id, howdah.now())
    from (select distinct c.destination_id from howdah.consumers c
          join howdah.auto_destinations a on a.destination_id = c.destination_id) c;
    perform howdah._end_unused(array(
        select a.destination_id from howdah.auto_destinations a
        where a.boot <> pg_postmaster_start_time()
            and a.looked_at is distinct from 'infinity'));
end
$$;
