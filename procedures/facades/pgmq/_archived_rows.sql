-- pgmq._archived_rows(p_destination_id): the rows of the view a_<queue>: what the queue keeps for good.
--
-- Returns  the columns of pgmq's archives, for callers who may browse the queue.
-- Raises   42501 the caller may not browse the queue.
-- Role     everybody
--
-- As in activemq_msgs, callers who may only browse see NULL in place of all bodies, once there is a redaction rule.
create or replace function pgmq._archived_rows(p_destination_id integer) returns table (
    msg_id bigint, read_ct integer, enqueued_at timestamptz, last_read_at timestamptz, archived_at timestamptz,
    vt timestamptz, message jsonb, headers jsonb
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_whole boolean;
begin
    perform pgmq._check_sees(p_destination_id);
    v_whole := howdah._sees_bodies(howdah._destination_name(p_destination_id));
    return query
    select pgmq._number(p_destination_id, k.message_id), k.delivery_count, k.sent_at, k.last_read_at, k.kept_at,
        coalesce(k.visible_at, k.kept_at), case when v_whole then pgmq._json(k.content_type, k.body) end,
        pgmq._shown_headers(k.headers)
    from howdah.kept_messages k where k.destination_id = p_destination_id and k.kept_until = 'infinity';
end
$$;
