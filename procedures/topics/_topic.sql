-- howdah._topic(p_name, p_verb): a topic that the caller has a right to.
--
-- Returns  the row of howdah.destinations.
-- Raises   HD001 no such topic; HD010 the caller does not have the right p_verb there.
-- Role     internal
create or replace function howdah._topic(p_name text, p_verb text) returns howdah.destinations
language plpgsql stable
as $$
declare
    v_topic howdah.destinations := howdah._destination(p_name, p_verb);
begin
    if v_topic.kind <> 'topic' then
        raise exception using errcode = 'HD001', message = format('%s is a %s, not a topic', quote_literal(p_name),
            v_topic.kind),
            hint = 'See howdah.list_topics().';
    end if;
    return v_topic;
end
$$;
