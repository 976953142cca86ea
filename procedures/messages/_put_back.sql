-- howdah._put_back(p_message, p_nonpersistent, p_held): put a claimed message back in its place, because one before it
-- of its group or queue must wait.
--
-- Returns  false, so that a WHERE clause leaves the message out. p_held: its row is still there, and nothing is done.
-- Role     internal
--
-- No walk passes its place meanwhile: until this transaction commits, others see the row that it deleted.
create or replace function howdah._put_back(
    p_message howdah.msgs, p_nonpersistent boolean, p_held boolean
) returns boolean
language plpgsql volatile
as $$
begin
    if not p_held then
        perform howdah._put(p_message, p_nonpersistent, false);
    end if;
    return false;
end
$$;
