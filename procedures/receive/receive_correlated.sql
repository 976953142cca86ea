-- howdah.receive_correlated(queue, correlation_id, max_messages): take messages with a given correlation id; COMMIT
-- consumes them, ROLLBACK puts them back.
--
-- Returns  up to max_messages rows as howdah.receive, by priority and position; messages that are not due, expired or
--          in somebody else's hands are skipped.
-- Raises   HD001 no such queue; HD005 correlation_id is NULL, max_messages is not 1 to 10000, queue is a
--          subscription or keeps an order, or a limit of concurrency needs READ COMMITTED; HD009 receiving is paused;
--          HD010 not allowed; HD016 failures in a row disabled the queue; HD019 the queue is hardened; HD040 the
--          engine is paused, quiesced or stopped; HD002, HD004, HD027 the missing queue cannot create itself
--          (docs/auto-creation.md); HD045 the master of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- An index finds them anywhere in the queue.
create or replace function howdah.receive_correlated(queue text, correlation_id text, max_messages integer default 1)
returns setof howdah.message
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_queue howdah.destinations := howdah._queue_for_look_up(receive_correlated.queue);
    v_found record;
    v_left integer := max_messages;
begin
    if receive_correlated.correlation_id is null then
        raise exception using errcode = 'HD005', message = 'correlation_id cannot be NULL';
    elsif max_messages is null or max_messages not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 10000, not %s', coalesce(max_messages::text, 'NULL'));
    end if;
    if v_queue.limited then
        perform howdah._check_snapshot_for_permits(v_queue);
        v_left := howdah._permit_room(v_queue, null, v_left);
    end if;
    for v_found in
        select l.message, l.due_at from howdah._look_up(v_queue.id, null, receive_correlated.correlation_id) l
        order by (l.message).rank, (l.message).seq
    loop
        exit when v_left <= 0;
        return query select * from howdah._take_found(v_queue, v_found.message, v_found.due_at);
        if found then
            v_left := v_left - 1;
        elsif v_queue.limited then  -- one look at the limits for a message in other hands, not a try for each
            v_left := howdah._permit_room(v_queue, null, v_left);
        end if;
    end loop;
end
$$;
