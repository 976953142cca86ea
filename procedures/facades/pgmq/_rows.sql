-- pgmq._rows(p_destination_id): the rows of the view q_<queue>.
--
-- Returns  pgmq.message_record of each message, for callers who may browse the queue.
-- Role     everybody
create or replace function pgmq._rows(p_destination_id integer) returns setof pgmq.message_record
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if not pgmq._sees(p_destination_id) then
        raise exception using errcode = 'insufficient_privilege',
            message = format('permission denied for queue %s', howdah._destination_name(p_destination_id));
    end if;
    return query
    select m.msg_id, m.read_ct, m.enqueued_at, m.last_read_at, m.vt, m.message, m.headers
    from pgmq._messages(p_destination_id) m;
end
$$;
