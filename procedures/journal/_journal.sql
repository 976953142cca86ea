-- howdah._journal(p_destination, p_event, p_message_ids, p_nonpersistent, p_other_id, p_reason, p_oldest_sent_at,
-- p_apart): record what became of messages.
--
-- Role     internal
--
-- One row a call whatever the number of messages; none where the destination keeps no journal. With a message that has
-- ended goes its body, where that lies apart: so a body that is still wanted is read before. p_apart: whose do (NULL:
-- it is looked for).
create or replace function howdah._journal(
    p_destination howdah.destinations, p_event text, p_message_ids bigint[], p_nonpersistent boolean,
    p_other_id integer default null, p_reason text default null, p_oldest_sent_at timestamptz default null,
    p_apart bigint[] default null
) returns void
language plpgsql volatile
as $$
begin
    if cardinality(p_message_ids) > 0 and p_destination.journal_level <> 'off' then
        insert into howdah.journal (at, destination_id, other_destination_id, nonpersistent, event, reason, message_ids,
            oldest_sent_at)
        values (howdah.now(), p_destination.id, p_other_id, p_nonpersistent, p_event, p_reason, p_message_ids,
            p_oldest_sent_at);
    end if;
    if p_event in ('consumed', 'expired', 'discarded') and not p_nonpersistent
       and cardinality(coalesce(p_apart, p_message_ids)) > 0
       and pg_sequence_last_value('howdah.bodies_apart'::regclass) is not null then
        perform howdah._drop_bodies(coalesce(p_apart, p_message_ids));
    end if;
end
$$;
