-- howdah._link_store(p_queue, p_messages, p_forward): send what came over a link.
--
-- Returns  message_ids, sent_ats (as they came) and local_ids, the ids here; in the order of p_messages. levels: theirs
--          at the sender, or the one that all of them have.
-- Raises   HD001, HD005, HD006, HD007, HD008, HD010, HD017, HD018, HD025, HD027 as howdah.send_batch.
-- Role     internal
--
-- Their sender is in the other engine: the end of the forwarder's connection discards none of them.
--
-- p_forward: as in howdah._publish.
--
-- It sends successive messages together if they share everything that the messages of a batch share.
create or replace function howdah._link_store(
    p_queue text, p_messages json, p_forward boolean default true, out message_ids bigint[],
    out sent_ats timestamptz[], out local_ids bigint[], out levels text[]
) returns record
language plpgsql volatile
as $$
declare
    v record;
    v_begins bigint[];
    v_from integer;
    v_to integer;
begin
    select array_agg(m.message_id) as message_ids, array_agg(m.sent_at) as sent_ats, array_agg(m.body) as bodies,
        array_agg(m.headers) as headers, array_agg(m.priority) as priorities,
        array_agg(m.correlation_id) as correlation_ids, array_agg(m.message_type) as message_types,
        array_agg(m.conversation_id) as conversation_ids, array_agg(m.is_text) as are_text,
        array_agg(m.content_type) as content_types, array_agg(m.reply_to) as reply_tos, array_agg(m.lives) as lives,
        array_agg(m.reliability) as levels,
        bool_and(m.is_text) = bool_or(m.is_text) and min(m.content_type) = max(m.content_type)
            and count(m.reply_to) + count(m.lives) = 0 and min(m.reliability) = max(m.reliability) as uniform
    into v
    from howdah._link_messages(p_messages) m;
    v_begins := case when v.uniform then array[1] else array(
        select c.n from (
            select u.n, u.key is distinct from lag(u.key) over (order by u.n) as begins
            from (
                select p.n, row(p.is_text, p.content_type, p.reply_to, p.lives, p.reliability)::text as key
                from unnest(v.are_text, v.content_types, v.reply_tos, v.lives, v.levels) with ordinality
                    p(is_text, content_type, reply_to, lives, reliability, n)
            ) u
        ) c where c.begins order by c.n) end || coalesce(cardinality(v.bodies) + 1, 1)::bigint;
    message_ids := coalesce(v.message_ids, '{}');
    sent_ats := coalesce(v.sent_ats, '{}');
    local_ids := '{}';
    levels := case when v.uniform then v.levels[:1] else v.levels end;
    for i in 1..cardinality(v_begins) - 1 loop
        v_from := v_begins[i];
        v_to := v_begins[i + 1] - 1;
        local_ids := local_ids || howdah._send_batch_to(p_queue, v.bodies[v_from:v_to], v.are_text[v_from],
            v.content_types[v_from], v.headers[v_from:v_to], v.priorities[v_from:v_to],
            v.correlation_ids[v_from:v_to], v.message_types[v_from:v_to], v.conversation_ids[v_from:v_to],
            v.reply_tos[v_from], v.lives[v_from], null, v.levels[v_from], true, p_sender => false,
            p_forward => p_forward);
    end loop;
end
$$;
