-- howdah._old_permits(p_id, p_key, p_messages): the permits that messages had under leases that are over.
--
-- Returns  integer[]; any of them may be another message's by now.
-- Role     internal
create or replace function howdah._old_permits(p_id integer, p_key text, p_messages howdah.message[])
returns integer[]
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
begin
    return array(
        select distinct l.permit from unnest(p_messages) m
        join howdah.leased_permits l on l.destination_id = p_id and l.message_id = m.message_id
        where l.key = howdah._permit_key(p_key));
end
$$;
