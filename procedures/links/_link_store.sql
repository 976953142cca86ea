-- howdah._link_store(p_queue, p_messages): send what came over a link.
--
-- Returns  the ids here (bigint[]), in the order of p_messages.
-- Raises   HD001, HD005, HD006, HD007, HD008, HD010, HD017, HD018, HD025, HD027 as howdah.send_batch.
-- Role     internal
--
-- Messages in a row that have everything in common that a batch has in common are sent together.
create or replace function howdah._link_store(p_queue text, p_messages json) returns bigint[]
language plpgsql volatile
as $$
declare
    v record;
    v_ids bigint[] := '{}';
    v_from integer;
    v_to integer;
begin
    select array_agg(m.body order by m.n) as bodies, array_agg(m.headers order by m.n) as headers,
        array_agg(m.priority order by m.n) as priorities, array_agg(m.correlation_id order by m.n) as correlation_ids,
        array_agg(m.message_type order by m.n) as message_types,
        array_agg(m.conversation_id order by m.n) as conversation_ids,
        array_agg(m.is_text order by m.n) as are_text, array_agg(m.content_type order by m.n) as content_types,
        array_agg(m.reply_to order by m.n) as reply_tos, array_agg(m.lives order by m.n) as lives,
        array_agg(m.delivery_mode order by m.n) as delivery_modes,
        array_agg(m.n order by m.n) filter (where m.begins) || (count(*) + 1) as begins
    into v
    from (
        select p.*, row(p.is_text, p.content_type, p.reply_to, p.lives, p.delivery_mode)::text is distinct from
            lag(row(p.is_text, p.content_type, p.reply_to, p.lives, p.delivery_mode)::text) over (order by p.n) as begins
        from howdah._link_messages(p_messages) p
    ) m;
    for i in 1..cardinality(v.begins) - 1 loop
        v_from := v.begins[i];
        v_to := v.begins[i + 1] - 1;
        v_ids := v_ids || howdah._send_batch_to(p_queue, v.bodies[v_from:v_to], v.are_text[v_from],
            v.content_types[v_from], v.headers[v_from:v_to], v.priorities[v_from:v_to],
            v.correlation_ids[v_from:v_to], v.message_types[v_from:v_to], v.conversation_ids[v_from:v_to],
            v.reply_tos[v_from], v.lives[v_from], null, v.delivery_modes[v_from], true);
    end loop;
    return v_ids;
end
$$;
