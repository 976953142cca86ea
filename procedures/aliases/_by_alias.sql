-- howdah._by_alias(p_destination, p_alias): a destination with the levels of an alias that stands for it now.
--
-- Returns  howdah.destinations; as it is if p_alias is NULL, or no longer stands for it.
-- Role     internal
create or replace function howdah._by_alias(p_destination howdah.destinations, p_alias text)
returns howdah.destinations
language plpgsql stable
as $$
declare
    v_alias howdah.aliases;
begin
    if p_alias is not null then
        select a.* into v_alias from howdah.aliases a where a.name = p_alias and a.target = p_destination.name;
        p_destination.default_reliability := coalesce(v_alias.default_reliability, p_destination.default_reliability);
        p_destination.max_reliability := coalesce(v_alias.max_reliability, p_destination.max_reliability);
        p_destination.producer_may_override := coalesce(v_alias.producer_may_override,
            p_destination.producer_may_override);
    end if;
    return p_destination;
end
$$;
