-- pgmq._send_batch(p_queue, p_messages, p_headers, p_vt): store many messages; NULL in p_vt: visible at once.
--
-- Returns  the msg_id (bigint) of each, in the order of p_messages.
-- Raises   as pgmq.send.
-- Role     internal
--
-- The call makes the bodies first, because their sizes decide whether the usual statement is enough.
create or replace function pgmq._send_batch(
    p_queue text, p_messages jsonb[], p_headers jsonb[], p_vt timestamptz
) returns setof bigint
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_bodies bytea[] := array(select convert_to(coalesce(m.message::text, ''), 'UTF8')
        from unnest(p_messages) with ordinality m(message, n) order by m.n);
    v_bytes bigint;
    v_longest integer;
    v_destination howdah.destinations;
    v_alone boolean;
    v_part record;
begin
    select sum(octet_length(b.body)), max(octet_length(b.body)) into v_bytes, v_longest from unnest(v_bodies) b(body);
    if p_vt is null and not howdah._is_large(v_longest)
       and current_setting('howdah.commit_by_reliability', true) <> '' is not true then
        return query
        insert into howdah.msgs as i (seq, message_id, sent_at, expires_at, destination_id, rank, stage, is_text,
            content_type, body, headers)
        select b.seq, b.seq * 1000000 + b.id, v_now, v_now + b.default_time_to_live, b.id,
            b.main_rank, 0, true,
            case when octet_length(b.body) = 0 then 'application/x-sql-null' else 'application/json' end, b.body,
            pgmq._stored_headers(b.headers)
        from (
            select d.*, m.body, m.headers, nextval(d.positions) as seq
            from (
                select c.id, c.main_rank, c.default_time_to_live, c.positions
                from howdah.destinations c
                where c.name = lower(p_queue) and c.dropped_at is null and c.kind = 'queue' and c.usual_send
                  and v_longest <= c.max_message_bytes
                  and c.assured
                  and (p_headers is null or c.last_value_key is null)
                  and howdah._lets_in(c.id, c.room, c.tickets, cardinality(p_messages), v_bytes, c.senders,
                      c.waiting, true)
                  and (pg_sequence_last_value('pgmq.notifying'::regclass) is null or pgmq._notify(c.name))
                  and pg_current_xact_id() is not null  -- before a position is drawn: howdah._set_mark
                offset 0
            ) d cross join unnest(v_bodies, p_headers) m(body, headers)
        ) b
        returning i.seq;
        if found then
            return;
        end if;
    end if;
    v_destination := pgmq._refuse(p_queue, 'send');
    if p_vt is not null then
        return query select * from pgmq._send_delayed(v_destination, p_messages, p_headers, p_vt);
        return;
    end if;
    -- A batch has one content type, and NULL has its own: then each message goes alone.
    v_alone := array_position(p_messages, null) is not null;
    for v_part in
        select array_agg(m.body order by m.n) as bodies,
            case when p_headers is not null then array_agg(m.headers order by m.n) end as headers
        from unnest(v_bodies, p_headers) with ordinality m(body, headers, n)
        group by case when v_alone then m.n else 0 end order by min(m.n)
    loop
        return query
        select i.id / 1000000
        from unnest(howdah._send_batch(v_destination, v_part.bodies, true,
            case when octet_length(v_part.bodies[1]) = 0 then 'application/x-sql-null' else 'application/json' end,
            pgmq._headers_for(v_destination, v_part.headers, cardinality(v_part.bodies)), null, null, null, null,
            null, null, null, null, true)) with ordinality i(id, n)
        order by i.n;
    end loop;
end
$$;
