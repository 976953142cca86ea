-- howdah._clean_incidents(p_destination, p_message_id, p_conversation_id, p_group, p_outcome): delete the incidents of
-- a disposed message, if the queue's clean_incidents says so.
--
-- Role     internal
create or replace function howdah._clean_incidents(
    p_destination howdah.destinations, p_message_id bigint, p_conversation_id uuid, p_group text, p_outcome text
) returns void
language plpgsql volatile
as $$
begin
    if p_destination.clean_incidents and p_outcome in ('moved', 'discarded', 'ended') then
        delete from howdah.poison_details p
        where p.incident_id in (
            select l.incident_id from howdah.poison_details l
            where l.destination_id = p_destination.id and l.message_id = p_message_id
               or p_destination.count_by = 'conversation' and l.destination_id = p_destination.id
               and l.conversation_id = p_conversation_id
               or p_destination.count_by = 'group' and l.destination_id = p_destination.id and l.message_group = p_group
            for update skip locked);
    end if;
end
$$;
