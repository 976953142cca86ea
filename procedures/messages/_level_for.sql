-- howdah._level_for(p_destination, p_asked): the level of reliability of a message that is sent to a destination.
--
-- Returns  smallint: 0 (best effort) to 4 (assured).
-- Raises   HD005 there is no such level or mode; HD039 the level is above the destination's max_reliability.
-- Role     internal
--
-- p_asked is a level or a delivery mode. The destination's default decides where it is NULL, or where producers may not
-- override it. An alias's default that is above the highest level, since its target was altered, counts as the highest.
-- A destination or an engine whose option persistent is false makes the two persistent levels express.
create or replace function howdah._level_for(p_destination howdah.destinations, p_asked text) returns smallint
language plpgsql immutable
as $$
declare
    v_level smallint := howdah._reliability_number(p_asked);
begin
    if v_level is null or not p_destination.producer_may_override then
        v_level := least(howdah._reliability_number(p_destination.default_reliability),
            howdah._reliability_number(p_destination.max_reliability));
    elsif v_level > howdah._reliability_number(p_destination.max_reliability) and p_destination.persistent then
        raise exception using errcode = 'HD039',
            message = format('%s takes messages up to the level %s, not %s', quote_literal(p_destination.name),
                p_destination.max_reliability, howdah._level_name(v_level, null)),
            hint = 'Send it with a lower level, or raise the option max_reliability.';
    end if;
    if v_level > 2 and not p_destination.persistent then
        v_level := least(1, howdah._reliability_number(p_destination.max_reliability));
    end if;
    return v_level;
end
$$;
