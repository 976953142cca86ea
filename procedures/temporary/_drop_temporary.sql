-- howdah._drop_temporary(p_queue): end a temporary queue; its number then waits for its next use.
--
-- Returns  boolean; false if somebody else did, and the number may have another owner by now.
-- Role     internal
create or replace function howdah._drop_temporary(p_queue howdah.temporary_queues) returns boolean
language plpgsql volatile
as $$
begin
    update howdah.temporary_queues t set connection = null
    where t.destination_id = p_queue.destination_id and t.connection = p_queue.connection and t.life = p_queue.life;
    if not found then
        return false;
    end if;
    update howdah.destinations d set dropped_at = howdah.now() where d.id = p_queue.destination_id;
    delete from howdah.listeners l where l.destination_id = p_queue.destination_id;
    perform howdah._clear_temporary(p_queue.destination_id);
    return true;
end
$$;
