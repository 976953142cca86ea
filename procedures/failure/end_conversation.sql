-- howdah.end_conversation(conversation_id, error, error_text, reply_to): end a conversation, with or without an error
-- message to the other side.
--
-- Returns  true if the conversation was open (boolean); a second call does nothing.
-- Raises   HD001 reply_to is no queue; HD010 the caller may not send there, or calls from a maintenance command; HD005
--          conversation_id is NULL, or error is not positive or comes without its text.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- It works like Service Broker's END CONVERSATION WITH ERROR: from now on, a send in the conversation raises HD017.
-- Messages already sent stay.
--
-- The other side is reply_to, found in a message received in the conversation. It gets a message of type Error with the
-- body {"code": …, "text": …}. Without an error it gets nothing. The call waits for another transaction that is ending
-- the same conversation.
create or replace function howdah.end_conversation(
    conversation_id uuid, error integer default null, error_text text default null, reply_to text default null
) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    if conversation_id is null or error <= 0 or (error is null) <> (error_text is null) then
        raise exception using errcode = 'HD005',
            message = 'end_conversation needs a conversation, and an error with its text or neither',
            hint = 'The number of an error is positive.';
    end if;
    if reply_to is not null and error is not null then
        perform howdah._destination(reply_to, 'send');
    end if;
    perform pg_advisory_xact_lock(howdah._lock_key('conversation', conversation_id::text));
    return howdah._end_conversation(conversation_id, error, error_text, reply_to, null);
end
$$;
