-- pgmq._rows(p_destination_id): the rows of the view q_<queue>.
--
-- Returns  pgmq.message_record of each message, for callers who may browse the queue.
-- Raises   42501 the caller may not browse the queue.
-- Role     everybody
--
-- As in activemq_msgs, callers who may only browse see NULL in place of all bodies, once there is a redaction rule.
create or replace function pgmq._rows(p_destination_id integer) returns setof pgmq.message_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_whole boolean;
begin
    perform pgmq._check_sees(p_destination_id);
    v_whole := howdah._sees_bodies(howdah._destination_name(p_destination_id));
    return query
    select m.msg_id, m.read_ct, m.enqueued_at, m.last_read_at, m.vt,
        case when v_whole then m.message end, m.headers
    from pgmq._messages(p_destination_id) m;
end
$$;
