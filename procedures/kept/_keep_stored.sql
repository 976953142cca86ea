-- howdah._keep_stored(p_destination, p_messages, p_nonpersistent): keep messages that this transaction deletes from
-- where they are stored.
--
-- Role     internal
--
-- Call it before their bodies go (howdah._journal).
create or replace function howdah._keep_stored(
    p_destination howdah.destinations, p_messages howdah.msgs[], p_nonpersistent boolean
) returns void
language plpgsql volatile
as $$
begin
    if cardinality(p_messages) > 0 then
        perform howdah._keep(p_destination.id, array(
            select howdah._message(m, p_destination.name, p_nonpersistent,
                case when pg_sequence_last_value(p_destination.failing) is null then 0
                    else howdah._failures(p_destination.id, m.message_id, m.stage, m.conversation_id,
                        howdah._group(m.headers, m.conversation_id)) end)
            from unnest(p_messages) m), p_destination.keep_bodies_ms);
    end if;
end
$$;
