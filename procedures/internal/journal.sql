-- howdah._journal(p_destination, p_event, p_message_ids, p_nonpersistent, p_other_id, p_reason): record what became of messages.
--
-- Role     internal
--
-- One row a call whatever the number of messages; none where the destination keeps no journal.
create or replace function howdah._journal(
    p_destination howdah.destinations, p_event text, p_message_ids bigint[], p_nonpersistent boolean,
    p_other_id integer default null, p_reason text default null
) returns void
language plpgsql volatile
as $$
begin
    if cardinality(p_message_ids) > 0 and p_destination.journal_level <> 'off' then
        insert into howdah.journal (at, destination_id, other_destination_id, nonpersistent, event, reason, message_ids)
        values (howdah.now(), p_destination.id, p_other_id, p_nonpersistent, p_event, p_reason, p_message_ids);
    end if;
end
$$;
