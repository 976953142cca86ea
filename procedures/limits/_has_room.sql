-- howdah._has_room(p_destination, p_messages, p_bytes): whether a queue has room for more messages and bytes of bodies,
-- beyond those being sent.
--
-- Returns  boolean; true if it has no limits.
-- Role     internal
--
-- It serves what the engine itself puts there: dead messages, copies, reports, and messages over a bridge. It does not
-- wait.
create or replace function howdah._has_room(
    p_destination howdah.destinations, p_messages bigint, p_bytes bigint
) returns boolean
language plpgsql volatile
as $$
begin
    if p_destination.message_limit is null and p_destination.byte_limit is null then
        return true;
    end if;
    if p_destination.limit_behaviour = 'block' then
        p_destination.limit_behaviour := 'reject';
    end if;
    return howdah._make_room(p_destination, p_messages, p_bytes, 0, 4::smallint, false);
end
$$;
