-- howdah._deliver(p_destination_id, p_message, p_nonpersistent, p_now, p_limit, p_journaled, p_failed): deliver a
-- message just taken, or dispose of it.
--
-- Returns  the message (howdah.message); no row if it has expired or reached its limit.
-- Role     internal
--
-- p_failed: something may have failed in the queue. If not, no failures are counted.
create or replace function howdah._deliver(
    p_destination_id integer, p_message howdah.msgs, p_nonpersistent boolean, p_now timestamptz, p_limit integer,
    p_journaled boolean, p_failed boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_failures integer := 0;
    v_weight integer := 0;
begin
    if p_failed then
        select coalesce(max(f.failures), 0), coalesce(max(f.weight), 0) into v_failures, v_weight
        from howdah._count_failures(p_destination_id, array[p_message.message_id], array[p_message.stage],
            array[p_message.conversation_id], array[howdah._group(p_message.headers, p_message.conversation_id)]) f
        where f.stage = p_message.stage;
    end if;
    if p_message.expires_at <= p_now or v_weight >= p_limit then
        perform howdah._dispose(p_destination_id, p_message, p_nonpersistent, null, p_now);
        return;
    end if;
    if p_journaled then
        insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, oldest_sent_at)
        values (p_now, p_destination_id, p_nonpersistent, 'consumed', array[p_message.message_id], p_message.sent_at);
    end if;
    if p_message.body is null then
        p_message.body := howdah._take_body(p_message.message_id);
    end if;
    return next howdah._message(p_message, howdah._destination_name(p_destination_id), p_nonpersistent, v_failures);
end
$$;
