-- howdah._new_temporary(): create the destination of a temporary queue, with its sequences.
--
-- Returns  howdah.temporary_queues.
-- Raises   HD002 no room for another queue, or there are 100,000 temporary ones.
-- Role     internal
create or replace function howdah._new_temporary() returns howdah.temporary_queues
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := howdah._new_destination('_TEMP.' || gen_random_uuid());
    v_queue howdah.temporary_queues;
begin
    if (select count(*) >= 100000 from howdah.temporary_queues) then
        raise exception using errcode = 'HD002',
            message = 'there are 100,000 temporary queues, and none of them is free',
            hint = 'Close connections that no longer need theirs: howdah.close_connection().';
    end if;
    v_destination.persistent := false;
    v_destination.journal_level := 'off';
    v_destination.exception_mode := 'none';
    v_destination.max_failed_deliveries := 0;
    v_destination.dispose_at := 1000000;
    v_queue.destination_id := howdah._add_destination(v_destination);
    v_queue.alive := howdah._new_hint('alive_' || v_queue.destination_id);
    v_queue.lives := howdah._new_hint('lives_' || v_queue.destination_id);
    insert into howdah.temporary_queues select v_queue.*;
    perform howdah._open_lane(v_queue.destination_id, 9 - v_destination.default_priority, 1);
    return v_queue;
end
$$;
