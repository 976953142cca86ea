-- howdah._queue(p_name, p_verb): a destination that holds messages, a queue or a subscription, if the caller has a
-- right to it.
--
-- Returns  the row of howdah.destinations, as howdah._destination.
-- Raises   HD001 there is none of that name, or it is a topic; HD010 the caller does not have the right p_verb there.
-- Role     internal
create or replace function howdah._queue(p_name text, p_verb text) returns howdah.destinations
language plpgsql stable
as $$
declare
    v_destination howdah.destinations := howdah._destination(p_name, p_verb);
begin
    if v_destination.kind = 'topic' then
        raise exception using errcode = 'HD001', message = format('%s is a topic, not a queue', quote_literal(p_name)),
            hint = 'Messages of a topic are dealt with at its subscriptions; see howdah.list_subscriptions(topic).';
    end if;
    return v_destination;
end
$$;
