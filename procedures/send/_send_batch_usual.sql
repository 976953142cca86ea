-- howdah._send_batch_usual(p_queue, p_bodies, p_is_text, p_content_type, p_reply_to, p_notify, p_recorded): store many
-- messages that have nothing but a body, by one statement.
--
-- Returns  the message ids (bigint[]) in the order of p_bodies. NULL if the queue, the caller or a body is not usual:
--          then nothing is stored, and howdah._send_batch handles the call.
-- Role     internal
--
-- It is to howdah.send_batch what the first statement of howdah.send is to that. The positions ascend with the bodies.
-- p_recorded: the caller has seen journal_level full.
create or replace function howdah._send_batch_usual(
    p_queue text, p_bodies bytea[], p_is_text boolean, p_content_type text, p_reply_to text, p_notify boolean,
    p_recorded boolean
) returns bigint[]
language plpgsql volatile set plan_cache_mode = force_generic_plan
as $$
declare
    v_count integer;
    v_bytes bigint;
    v_longest integer;
    v_ids bigint[];
begin
    select count(b.body), sum(octet_length(b.body)), max(octet_length(b.body)) into v_count, v_bytes, v_longest
    from unnest(p_bodies) b(body);
    if v_count = 0 or v_count <> cardinality(p_bodies) or array_dims(p_bodies) <> '[1:' || v_count || ']'
       or (p_content_type <> '') is not true or howdah._is_large(v_longest)
       or current_setting('howdah.commit_by_reliability', true) <> '' then
        return null;
    end if;
    with stored as (
        insert into howdah.msgs (seq, message_id, sent_at, expires_at, destination_id, rank, stage, is_text,
            content_type, body, reply_to)
        select b.seq, b.seq * 1000000 + b.id, b.now, b.now + b.default_time_to_live, b.id, b.main_rank, 0, p_is_text,
            p_content_type, b.body, p_reply_to
        from (
            select d.*, m.body, nextval(d.positions) as seq
            from (
                select c.id, c.main_rank, c.default_time_to_live, c.positions, howdah.now() as now
                from howdah.destinations c
                where c.name = p_queue and c.dropped_at is null and c.usual_batch
                  and c.assured and v_longest <= c.max_message_bytes
                  and howdah._lets_in(c.id, c.room, c.tickets, v_count, v_bytes, c.senders, c.waiting, p_notify)
                  and pg_current_xact_id() is not null  -- before a position is drawn: howdah._set_mark
                offset 0
            ) d cross join unnest(p_bodies) m(body)
        ) b
        returning message_id
    )
    select array_agg(s.message_id order by s.message_id) into v_ids from stored s;
    if p_recorded and v_ids is not null then
        -- As it was stored: the queue may be altered or dropped meanwhile.
        perform howdah._journal_sent(d, v_ids, false, m.sent_at, m.expires_at, null, null,
            array_fill(9 - m.rank, array[v_count]), false,
            howdah._digests(p_bodies, null, p_is_text, p_content_type, null, p_reply_to, null, null), null)
        from howdah.msgs m
        join howdah.destinations d on d.id = m.destination_id
        where m.destination_id = v_ids[1] % 1000000 and m.rank = any ('{0,1,2,3,4,5,6,7,8,9}')
          and m.seq = v_ids[1] / 1000000;
    end if;
    return v_ids;
end
$$;
