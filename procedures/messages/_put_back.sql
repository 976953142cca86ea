-- howdah._put_back(p_message, p_nonpersistent, p_held, p_parked): put a claimed message back in its place, because one
-- before it of its group or queue must wait.
--
-- Returns  false, so that a WHERE clause leaves the message out. p_held: its row is still there, and nothing is done.
-- Role     internal
--
-- No walk passes its place meanwhile, because others see the deleted row until this transaction commits. But if it
-- waited elsewhere (p_parked), the heads may be beyond its place.
create or replace function howdah._put_back(
    p_message howdah.msgs, p_nonpersistent boolean, p_held boolean, p_parked boolean
) returns boolean
language plpgsql volatile
as $$
begin
    if not p_held then
        perform howdah._put(p_message, p_nonpersistent, false);
        perform howdah._walk_back(d, p_message.rank, p_message.seq) from howdah.destinations d
        where p_parked and d.id = p_message.destination_id;
    end if;
    return false;
end
$$;
