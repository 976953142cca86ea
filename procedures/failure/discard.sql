-- howdah.discard(queue, message_ids, reason): throw messages away for good.
--
-- Returns  the number of messages discarded (bigint).
-- Raises   HD001 no such queue; HD005 message_ids is NULL; HD010 not allowed; HD013 a message is not in the queue.
-- Role     howdah_admin
create or replace function howdah.discard(queue text, message_ids bigint[], reason text default null) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'admin');
    v_ids bigint[];
    v_nonpersistent bigint[];
    v_count integer;
begin
    if message_ids is null then
        raise exception using errcode = 'HD005', message = 'message_ids cannot be NULL',
            hint = 'howdah.purge_queue(queue) discards all messages.';
    end if;
    select array_agg((t.message).message_id) filter (where not t.nonpersistent),
        array_agg((t.message).message_id) filter (where t.nonpersistent), count(*)
    into v_ids, v_nonpersistent, v_count
    from howdah._take_back(v_destination, message_ids, null) t;
    if v_count < (select count(distinct i.id) from unnest(message_ids) i(id)) or array_position(message_ids, null) > 0 then
        raise exception using errcode = 'HD013', message = format('not all of these messages are in queue %s', quote_literal(queue)),
            hint = 'See howdah.browse(queue); a message in somebody''s hands cannot be discarded.';
    end if;
    perform howdah._journal(v_destination, 'discarded', v_ids, false, null, reason);
    perform howdah._journal(v_destination, 'discarded', v_nonpersistent, true, null, reason);
    perform howdah._act('discarded', v_destination.id, v_ids || v_nonpersistent, null, reason);
    return v_count;
end
$$;
