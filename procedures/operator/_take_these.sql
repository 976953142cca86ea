-- howdah._take_these(p_destination, p_message_ids, p_act): take the named messages out of a destination for an
-- operator, all or none.
--
-- Returns  each message and whether it is non-persistent, by id.
-- Raises   HD005 p_message_ids is NULL; HD013 not all of them are there and free. p_act is the verb for the hint.
-- Role     internal
create or replace function howdah._take_these(p_destination howdah.destinations, p_message_ids bigint[], p_act text)
returns table (message howdah.msgs, nonpersistent boolean)
language plpgsql volatile
as $$
declare
    v_count bigint;
begin
    if p_message_ids is null then
        raise exception using errcode = 'HD005', message = 'message_ids cannot be NULL',
            hint = 'Name the messages; see howdah.browse(queue).';
    end if;
    return query select t.message, t.nonpersistent from howdah._take_back(p_destination, p_message_ids, null) t
    order by (t.message).message_id;
    get diagnostics v_count = row_count;
    if v_count < (select count(distinct i.id) from unnest(p_message_ids) i(id))
       or exists (select from unnest(p_message_ids) i(id) where i.id is null) then
        raise exception using errcode = 'HD013',
            message = format('not all of these messages are in queue %s', quote_literal(p_destination.name)),
            hint = format('See howdah.browse(queue); a message in somebody''s hands cannot be %s.', p_act);
    end if;
end
$$;
