-- howdah._check_all_taken(p_source, p_message_ids, p_count, p_act): raise an error unless an act found every named
-- message.
--
-- Returns  nothing.
-- Raises   HD013 it found fewer. p_act is the verb for the hint.
-- Role     internal
create or replace function howdah._check_all_taken(
    p_source howdah.destinations, p_message_ids bigint[], p_count bigint, p_act text
)
returns void
language plpgsql stable
as $$
begin
    if p_count < (select count(distinct i.id) from unnest(p_message_ids) i(id))
       or exists (select from unnest(p_message_ids) i(id) where i.id is null) then
        raise exception using errcode = 'HD013',
            message = format('not all of these messages are in queue %s', quote_literal(p_source.name)),
            hint = format('See howdah.browse(queue); a message in somebody''s hands cannot be %s.', p_act);
    end if;
end
$$;
