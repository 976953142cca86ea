-- howdah._send_nonpersistent(p_queue, p_body, …): store a non-persistent message in a queue, if nothing else about it
-- is unusual.
--
-- Returns  the message's id (bigint); NULL if nothing was stored. Then queue or caller are not usual, the lane is not
--          open, or a best-effort message failed. howdah._send then handles the call.
-- Role     internal
--
-- CASE looks at the lane before a ticket is drawn: howdah._send_with_headers says why.
--
-- p_level is 0, 1 or 2; with NULL nothing is stored. p_guarded: an error does not matter to the transaction.
create or replace function howdah._send_nonpersistent(
    p_queue text, p_body bytea, p_is_text boolean, p_content_type text, p_correlation_id text, p_reply_to text,
    p_message_type text, p_notify boolean, p_level integer, p_guarded boolean default false
) returns bigint
language plpgsql volatile
as $$
declare
    v_now timestamptz;
    v_message_id bigint;
begin
    if p_level = 0 and not p_guarded then
        begin
            return howdah._send_nonpersistent(p_queue, p_body, p_is_text, p_content_type, p_correlation_id, p_reply_to,
                p_message_type, p_notify, p_level, true);
        exception when others then
            return null;
        end;
    end if;
    v_now := howdah.now();
    insert into howdah.msgs_nonpersistent (seq, message_id, sent_at, expires_at, destination_id, rank, stage, is_text,
        content_type, body, correlation_id, reply_to, message_type, reliability, boot)
    select d.seq, d.seq * 1000000 + d.id, v_now, v_now + d.default_time_to_live, d.id,
        d.main_rank, 0, p_is_text, p_content_type, p_body, p_correlation_id, p_reply_to, p_message_type,
        nullif(p_level, 1), pg_postmaster_start_time()
    from (
        select c.id, c.main_rank, c.default_time_to_live,
        case when pg_current_xact_id() is not null then nextval(c.positions) end as seq
        from howdah.destinations c
        where c.name = p_queue and c.dropped_at is null and c.usual_send
          and octet_length(p_body) <= c.max_message_bytes
          and c.producer_may_override and c.max_reliability = 'ASSURED_PERSISTENT' and p_level is not null
          and not c.discard_with_sender
          and case when pg_sequence_last_value(c.special) is not null
                and exists (select from howdah.lanes l
                    where l.destination_id = c.id and l.rank = c.main_rank and l.place = 1 and l.head is not null)
              then howdah._lets_in(c.id, c.room, c.tickets, 1, octet_length(p_body), c.senders, c.waiting,
                  p_notify) end
    ) d
    returning message_id into v_message_id;
    if v_message_id is not null and current_setting('howdah.commit_by_reliability', true) <> '' then
        return howdah._commit_needs(p_level, v_message_id);
    end if;
    return v_message_id;
end
$$;
