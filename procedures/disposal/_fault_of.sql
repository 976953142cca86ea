-- howdah._fault_of(p_destination, p_target, p_name, p_message): why a dead message cannot go to a destination.
--
-- Returns  text; NULL if it can.
-- Role     internal
--
-- As in IBM MQ, the consumer needs the rights to get, inquire, put, pass all context and set all context there. The
-- engine's own destinations always accept.
create or replace function howdah._fault_of(
    p_destination howdah.destinations, p_target howdah.destinations, p_name text, p_message howdah.msgs
)
returns text
language plpgsql volatile
as $$
begin
    return case
        when p_target.id is null then format('there is no queue %s', p_name)
        when p_target.is_system then null
        -- A dead message that fails again goes on, but not in a circle. Its incidents tell where it was since it left
        -- its origin.
        when p_target.id = p_message.origin_id or p_message.dead_at is not null and exists (
            select from howdah.poison_details p
            where p.message_id = p_message.message_id and p.destination_id + 0 = p_target.id and p.incident_id > (
                select coalesce(max(o.incident_id), 0) from howdah.poison_details o
                where o.message_id = p_message.message_id
                  and o.destination_id + 0 = p_message.origin_id)) then format('it came from queue %s', p_name)
        when not howdah._has_room(p_target, 1, howdah._body_bytes(p_message.body,
            p_message.message_id)) then format('queue %s is full', p_name)
        when p_destination.check_rights and exists (
            select from unnest(array['receive', 'browse', 'send', 'pass_all', 'set_all']) v(verb)
            where not howdah._has_right(p_target.id, v.verb))
            then format('NOT_AUTHORIZED: role %s lacks rights on queue %s', howdah._caller(), p_name)
    end;
end
$$;
