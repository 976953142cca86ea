-- howdah._destination(p_name, p_verb): the destination with a given name, if the caller has a right to it.
--
-- Returns  the row of howdah.destinations, for an alias its target's (howdah._aliased). p_verb is send, receive, browse
--          or admin.
-- Raises   HD001 there is no such queue; HD010 the caller does not have the right p_verb there, or it is another
--          connection's temporary queue.
-- Role     internal
create or replace function howdah._destination(p_name text, p_verb text) returns howdah.destinations
language plpgsql stable
as $$
declare
    v_destination howdah.destinations;
begin
    select d.* into v_destination from howdah.destinations d where d.name = p_name and d.dropped_at is null;
    if not found then
        v_destination := howdah._aliased(p_name, p_verb);
    end if;
    if v_destination.id is null then
        raise exception using errcode = 'HD001',
            message = format('there is no %s %s', case when p_name ~ '::' then 'subscription' else 'queue' end,
                coalesce(quote_literal(left(p_name, 250)), 'NULL')),
            hint = case when p_name ~ '::' then 'See howdah.list_subscriptions(), or create it with howdah.subscribe.'
                else 'Create it with howdah.create_queue(name), or see howdah.list_queues().' end;
    end if;
    if not howdah._has_right(v_destination.id, p_verb) then
        raise exception using errcode = 'HD010',
            message = format('role %s may not %s on queue %s', quote_ident(howdah._caller()), p_verb,
                quote_literal(p_name)),
            hint = case when v_destination.kind = 'subscription' and p_verb = 'send'
                then 'It is a subscription: send to its topic.'
                else howdah._rights_hint(
                    'Ask an administrator for membership in a role that has this right (howdah.list_grants).') end;
    end if;
    if v_destination.name ^@ '_TEMP.' then
        perform howdah._check_temporary(v_destination, p_verb);
    end if;
    return v_destination;
end
$$;
