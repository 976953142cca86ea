-- pgmq._shown(p_destination_id, p_parked): parked messages as pgmq shows them.
--
-- Returns  the messages, in the order of p_parked.
-- Role     internal
create or replace function pgmq._shown(p_destination_id integer, p_parked howdah.parked[])
returns setof pgmq.message_record
language sql volatile
as $$
    select pgmq._number(p_destination_id, h.message_id), coalesce(h.reads, 0), h.sent_at, h.last_read_at, h.due_at,
        pgmq._json(h.content_type, coalesce(h.body, howdah._body(h.message_id))), pgmq._shown_headers(h.headers)
    from unnest(p_parked) h
$$;
