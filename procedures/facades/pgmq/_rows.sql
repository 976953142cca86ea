-- pgmq._rows(p_destination_id): the rows of the view q_<queue>.
--
-- Returns  pgmq.message_record of each message, for callers who may browse the queue.
-- Raises   42501 the caller may not browse the queue.
-- Role     everybody
create or replace function pgmq._rows(p_destination_id integer) returns setof pgmq.message_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform pgmq._check_sees(p_destination_id);
    return query
    select m.msg_id, m.read_ct, m.enqueued_at, m.last_read_at, m.vt, m.message, m.headers
    from pgmq._messages(p_destination_id) m;
end
$$;
