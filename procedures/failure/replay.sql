-- howdah.replay(queue, message_ids, target, max_messages): send dead messages back to where they came from, or elsewhere.
--
-- Returns  the number of messages replayed (bigint).
-- Raises   HD001 no such queue, or a message has no queue to go back to; HD005 max_messages is negative; HD010 not allowed;
--          HD013 a message is not in the queue.
-- Role     howdah_admin
--
-- queue is the exception destination they lie in. message_ids NULL means all, at most max_messages, oldest first.
-- Body, headers and identity stay; failures count from 0 again; the place is the end of the target queue.
create or replace function howdah.replay(
    queue text, message_ids bigint[] default null, target text default null, max_messages bigint default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_source howdah.destinations := howdah._destination(queue, 'admin');
    v_target howdah.destinations;
    v_back record;
    v_message howdah.msgs;
    v_count bigint := 0;
begin
    if max_messages < 0 then
        raise exception using errcode = 'HD005', message = format('max_messages %s is negative', max_messages);
    end if;
    if target is not null then
        v_target := howdah._destination(target, 'admin');
    end if;
    for v_back in
        select t.message, t.nonpersistent from howdah._take_back(v_source, message_ids, max_messages) t
        order by (t.message).message_id
    loop
        v_message := v_back.message;
        if target is null and v_message.origin_id is distinct from v_target.id then
            select d.* into v_target from howdah.destinations d where d.id = v_message.origin_id and d.dropped_at is null;
        end if;
        if v_target.id is null then
            raise exception using errcode = 'HD001',
                message = format('message %s has no queue to go back to', v_message.message_id),
                hint = 'Name one: howdah.replay(queue, message_ids, target => ...).';
        end if;
        v_message.destination_id := v_target.id;
        v_message.seq := nextval(v_target.positions);
        v_message.stage := v_message.stage + 1;
        v_message.origin_id := null;
        v_message.dead_at := null;
        v_message.dead_reason := null;
        perform howdah._put(v_message, v_back.nonpersistent, true);
        perform howdah._journal(v_source, 'replayed', array[v_message.message_id], v_back.nonpersistent, v_target.id);
        v_count := v_count + 1;
    end loop;
    if v_count < (select count(distinct i.id) from unnest(message_ids) i(id)) or array_position(message_ids, null) > 0 then
        raise exception using errcode = 'HD013', message = format('not all of these messages are in queue %s', quote_literal(queue)),
            hint = 'See howdah.browse(queue); a message in somebody''s hands cannot be replayed.';
    end if;
    return v_count;
end
$$;
