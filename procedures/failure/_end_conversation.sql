-- howdah._end_conversation(p_conversation_id, p_error, p_text, p_reply_to, p_correlation_id): end a conversation; this
-- is the body of howdah.end_conversation.
--
-- Returns  true if it was open (boolean).
-- Role     internal
create or replace function howdah._end_conversation(
    p_conversation_id uuid, p_error integer, p_text text, p_reply_to text, p_correlation_id text
) returns boolean
language plpgsql volatile
as $$
begin
    -- Another transaction is ending it. Do not wait: a receive that disposes of a message waits for nobody.
    if not pg_try_advisory_xact_lock(howdah._lock_key('conversation', p_conversation_id::text)) then
        return false;
    end if;
    perform howdah._commit_needs(4);
    insert into howdah.ended_conversations (conversation_id, ended_at, ended_by, error, error_text)
    values (p_conversation_id, howdah.now(), howdah._caller(), p_error, p_text)
    on conflict on constraint pk_ended_conversations do nothing;
    if not found then
        return false;
    end if;
    if p_error is not null then
        perform howdah._send_error(p_reply_to, null, p_error, p_text, p_correlation_id, p_conversation_id);
    end if;
    return true;
end
$$;
