-- howdah.send_by_hand(queue, body, headers, priority, delay, content_type, reason, …): send one message as a person,
-- and record who sent it and why (howdah.list_acts).
--
-- Returns  the message's id (bigint); of a best-effort message that could not be stored, that under which the journal
--          has it.
-- Raises   HD001 no such queue; HD005 null body or wrong argument; HD006 bad priority; HD007 body too large; HD008
--          sending is paused; HD010 not allowed; HD017 the conversation was ended; HD018 the queue is full; HD025 a
--          restored database (howdah.rebase_topics); HD027 the engine is full; HD039 the level is above the queue's
--          highest; HD040 the engine is paused, quiesced or stopped; HD002, HD004 the missing queue or topic cannot
--          create itself (docs/auto-creation.md); HD045 the master of changes is away; HD049 a bridge with a
--          transformation needs READ COMMITTED (docs/transformations.md); HD050 a body does not keep to the contract
--          (docs/contracts.md).
-- Role     howdah_producer howdah_admin
--
-- queue names a queue or a topic; of a list the act names the first. message_type, correlation_id, reply_to and
-- time_to_live are as in howdah.send. message_group puts it into that message group, as the header JMSXGroupID does.
create or replace function howdah.send_by_hand(
    queue text, body text, headers jsonb default null, priority integer default null, delay interval default null,
    content_type text default 'text/plain', reason text default null, message_type text default null,
    correlation_id text default null, message_group text default null, time_to_live interval default null,
    reply_to text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_message_id bigint := howdah.send(queue, body,
        headers => case when message_group is null then headers
            else coalesce(headers, '{}') || jsonb_build_object('JMSXGroupID', message_group) end,
        priority => priority, correlation_id => correlation_id, reply_to => reply_to, message_type => message_type,
        time_to_live => time_to_live, delay => delay, content_type => coalesce(content_type, 'text/plain'));
begin
    if v_message_id is not null then
        perform howdah._record_act('sent', (v_message_id % 1000000)::integer, array[v_message_id], null, reason);
    end if;
    return v_message_id;
end
$$;
