-- howdah._group(p_headers, p_conversation_id): the message group of a message.
--
-- Returns  text: the header JMSXGroupID, else the conversation; NULL: none.
-- Role     internal
create or replace function howdah._group(p_headers jsonb, p_conversation_id uuid) returns text
language sql immutable
as $$ select coalesce(p_headers ->> 'JMSXGroupID', p_conversation_id::text) $$;

-- howdah._group_seq(p_headers): what the header JMSXGroupSeq says.
--
-- Returns  1: it begins the group anew; -1: negative, it closes the group; 0: neither, or no number.
-- Role     internal
create or replace function howdah._group_seq(p_headers jsonb) returns integer
language sql immutable
as $$
    select case when jsonb_typeof(p_headers -> 'JMSXGroupSeq') = 'number'
        then case when (p_headers -> 'JMSXGroupSeq')::numeric < 0 then -1 when (p_headers -> 'JMSXGroupSeq')::numeric = 1 then 1 else 0 end
        else 0 end
$$;

-- howdah._lock_group(p_destination_id, p_group): have a message group for the rest of the transaction.
--
-- Returns  false: another transaction has it.
-- Role     internal
create or replace function howdah._lock_group(p_destination_id integer, p_group text) returns boolean
language sql volatile
as $$ select pg_try_advisory_xact_lock(howdah._lock_key('group', p_destination_id || ':' || p_group)) $$;
