-- howdah._take_permitted(p_queue, p_message, p_due_at): take a message that was looked up in a queue with limits of
-- concurrency or rate.
--
-- Returns  howdah.message; no row as howdah._take_found, or if a limit leaves no room.
-- Raises   HD005 a limit of concurrency needs READ COMMITTED.
-- Role     internal
create or replace function howdah._take_permitted(
    p_queue howdah.destinations, p_message howdah.msgs, p_due_at timestamptz
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_messages howdah.message[];
    v_short boolean := false;
begin
    perform howdah._check_snapshot_for_permits(p_queue);
    begin
        v_messages := array(select t from howdah._take_found(p_queue, p_message, p_due_at, true) t);
        if cardinality(v_messages) > 0 then
            v_short := (select p.room = 0 from howdah._permit_messages(p_queue, v_messages, false) p);
        end if;
        if v_short then
            raise exception 'the message goes with this';
        end if;
    exception when raise_exception then
        if not v_short then
            raise;
        end if;
        return;
    end;
    return query select * from unnest(v_messages);
end
$$;
