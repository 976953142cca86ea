-- howdah._journal(p_destination, p_event, p_message_ids, p_nonpersistent, p_other_id, p_reason, p_oldest_sent_at,
-- p_apart, p_reliability): record what became of messages.
--
-- Role     internal
--
-- It writes one row per call, whatever the number of messages, and none if the destination keeps no journal.
--
-- It also deletes the separately stored bodies of messages that have ended. Read a body before this call if you still
-- need it. p_apart: the messages with such bodies (NULL: look for them). p_reliability: of what was discarded, as rows
-- have it.
create or replace function howdah._journal(
    p_destination howdah.destinations, p_event text, p_message_ids bigint[], p_nonpersistent boolean,
    p_other_id integer default null, p_reason text default null, p_oldest_sent_at timestamptz default null,
    p_apart bigint[] default null, p_reliability smallint default null
) returns void
language plpgsql volatile
as $$
begin
    if cardinality(p_message_ids) > 0 and p_destination.journal_level <> 'off' then
        insert into howdah.journal (at, destination_id, other_destination_id, nonpersistent, event, reason, message_ids,
            oldest_sent_at, reliability)
        values (howdah.now(), p_destination.id, p_other_id, p_nonpersistent, p_event, p_reason, p_message_ids,
            p_oldest_sent_at, p_reliability);
    end if;
    if p_event in ('consumed', 'expired', 'discarded') and not p_nonpersistent
       and cardinality(coalesce(p_apart, p_message_ids)) > 0
       and pg_sequence_last_value('howdah.bodies_apart'::regclass) is not null then
        perform howdah._drop_bodies(coalesce(p_apart, p_message_ids));
    end if;
end
$$;
