-- howdah._topics_for(p_topic, p_verb): the topics that a name or a wildcard means; the caller has a right to all of
-- them.
--
-- Returns  their numbers (integer[]); empty for a wildcard that matches none yet.
-- Raises   HD001 no such topic; HD003 neither a name nor a wildcard; HD010 not allowed.
-- Role     internal
create or replace function howdah._topics_for(p_topic text, p_verb text) returns integer[]
language plpgsql stable
as $$
begin
    if p_topic ~ '[*>]' then
        perform howdah._check_wildcard(p_topic);
        return array(select (howdah._topic(d.name, p_verb)).id from howdah.destinations d
                     where d.kind = 'topic' and d.dropped_at is null and howdah._matches_wildcard(d.name, p_topic)
                     order by d.id);
    end if;
    return array[(howdah._topic(p_topic, p_verb)).id];
end
$$;
