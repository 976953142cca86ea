-- howdah.end_conversation(conversation_id, error, error_text, reply_to): end a conversation, with an error message to
-- the other side.
--
-- Returns  whether it was open; a second call does nothing.
-- Raises   HD001 reply_to is no queue; HD010 the caller may not send there, or calls out of a maintenance command;
--          HD005 a NULL conversation, or an error that is not positive or has no text.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- As Service Broker's END CONVERSATION WITH ERROR: from now on a send in it raises HD017. The other side is reply_to,
-- which a message received in the conversation tells; it gets a message of type Error with the body {"code": …, "text":
-- …}. Without an error it is told nothing. Messages already sent stay. It waits for another transaction that is just
-- ending the conversation.
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
