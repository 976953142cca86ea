-- howdah._clear_temporary(p_id): discard the messages of a temporary queue that is gone; nobody is left to read them.
--
-- Role     internal
create or replace function howdah._clear_temporary(p_id integer) returns void
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
begin
    delete from howdah.msgs_nonpersistent n where n.ctid = any (array(
        select c.ctid from howdah.msgs_nonpersistent c where c.destination_id = p_id for update skip locked));
    delete from howdah.parked p where p.ctid = any (array(
        select c.ctid from howdah.parked c where c.destination_id = p_id for update skip locked));
end
$$;
