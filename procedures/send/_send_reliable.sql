-- howdah._send_reliable(p_queue, p_body, …): store a reliable persistent message in a queue, if nothing else about it
-- is unusual.
--
-- Returns  the message's id (bigint); NULL if nothing was stored because queue or caller are not usual. howdah._send
--          then handles the call.
-- Role     internal
create or replace function howdah._send_reliable(
    p_queue text, p_body bytea, p_is_text boolean, p_content_type text, p_correlation_id text, p_reply_to text,
    p_message_type text, p_notify boolean
) returns bigint
language plpgsql volatile
as $$
declare
    v_now timestamptz := howdah.now();
    v_message_id bigint;
begin
    insert into howdah.msgs (seq, message_id, sent_at, expires_at, destination_id, rank, stage, is_text,
        content_type, body, correlation_id, reply_to, message_type, reliability)
    select d.seq, d.seq * 1000000 + d.id, v_now, v_now + d.default_time_to_live, d.id,
        d.main_rank, 0, p_is_text, p_content_type, p_body, p_correlation_id, p_reply_to, p_message_type, 3
    from (
        select c.id, c.main_rank, c.default_time_to_live,
        case when pg_current_xact_id() is not null then nextval(c.positions) end as seq
        from howdah.destinations c
        where c.name = p_queue and c.dropped_at is null and c.usual_send
          and octet_length(p_body) <= c.max_message_bytes
          and c.persistent
          and c.producer_may_override and c.max_reliability = 'ASSURED_PERSISTENT'
          and howdah._lets_in(c.id, c.room, c.tickets, 1, octet_length(p_body), c.senders, c.waiting, p_notify)
    ) d
    returning message_id into v_message_id;
    if v_message_id is not null and current_setting('howdah.commit_by_reliability', true) <> '' then
        return howdah._commit_needs(3, v_message_id);
    end if;
    return v_message_id;
end
$$;
