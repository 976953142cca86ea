-- howdah._record_act(p_act, p_destination_id, p_message_ids, p_other_id, p_reason): record what an operator did, and
-- who it was.
--
-- Role     internal
--
-- p_destination_id is NULL for an act on the engine as a whole. An act on messages is recorded only if there were any.
-- These acts need no messages: purged, paused, resumed, cancelled, fired, sought and ended.
--
-- The act's incident_id is the last incident at that time. It shows which failures came before a retry. Acts are
-- recorded at any journal_level. They have a table of their own: another column in the journal would cost each delivery
-- eight bytes.
create or replace function howdah._record_act(
    p_act text, p_destination_id integer, p_message_ids bigint[], p_other_id integer default null,
    p_reason text default null
) returns void
language plpgsql volatile
as $$
begin
    if cardinality(p_message_ids) > 0 or p_destination_id is null
       or p_act in ('purged', 'paused', 'resumed', 'cancelled', 'fired', 'sought', 'ended') then
        perform howdah._commit_needs(4);
        insert into howdah.operator_acts (at, actor, act, destination_id, other_destination_id, reason, message_ids,
            incident_id)
        values (howdah.now(), howdah._caller(), p_act, p_destination_id, p_other_id, p_reason, p_message_ids,
            pg_sequence_last_value('howdah.poison_details_incident_id_seq'::regclass));
    end if;
end
$$;
