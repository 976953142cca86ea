-- howdah._permit_again(p_queue, p_messages): take permits and spend rates for messages that the transaction gave back,
-- and is about to lease again.
--
-- Returns  those for which the limits leave room (howdah.message[]).
-- Raises   HD005 a limit of concurrency needs READ COMMITTED.
-- Role     internal
--
-- Their old permits do not count: they belong to leases that the transaction has ended. Another transaction may have
-- them, if the lease ran out before.
create or replace function howdah._permit_again(p_queue howdah.destinations, p_messages howdah.message[])
returns howdah.message[]
language plpgsql volatile
as $$
declare
    v_message howdah.message;
    v_short boolean;
    v_permitted howdah.message[] := '{}';
begin
    perform howdah._check_snapshot_for_permits(p_queue);
    foreach v_message in array p_messages loop
        v_short := false;
        begin
            v_short := (select p.room = 0 from howdah._permit_messages(p_queue, array[v_message], true) p);
            if v_short then
                raise exception 'the permits go with this';
            end if;
            v_permitted := v_permitted || v_message;
        exception when raise_exception then
            if not v_short then
                raise;
            end if;
        end;
    end loop;
    return v_permitted;
end
$$;
