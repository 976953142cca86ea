-- howdah._aliased(p_name, p_verb): the destination that an alias stands for, with the alias's own settings.
--
-- Returns  the target's row of howdah.destinations, or a row of NULLs if there is no such alias.
-- Raises   HD001 the alias's target does not exist, or the alias does not serve for this.
-- Role     internal
--
-- What an alias leaves NULL is the target's. An alias serves to send; that of a queue also to receive and browse.
-- Administration takes the target's own name, so that nobody drops a queue by an alias of it.
create or replace function howdah._aliased(p_name text, p_verb text) returns howdah.destinations
language plpgsql stable
as $$
declare
    v_alias howdah.aliases;
    v_destination howdah.destinations;
begin
    select a.* into v_alias from howdah.aliases a where a.name = p_name;
    if not found then
        return null;
    end if;
    select d.* into v_destination from howdah.destinations d where d.name = v_alias.target and d.dropped_at is null;
    if not found then
        raise exception using errcode = 'HD001',
            message = format('there is no queue %s, for which the alias %s stands', quote_literal(v_alias.target),
                quote_literal(p_name)),
            hint = 'Create it, or give the alias another target with howdah.alter_alias.';
    elsif p_verb not in ('send', 'receive', 'browse') or v_destination.kind <> 'queue' and p_verb <> 'send' then
        raise exception using errcode = 'HD001',
            message = format('%s is an alias of %s', quote_literal(p_name), quote_literal(v_alias.target)),
            hint = format('Use the name %s here.', quote_literal(v_alias.target));
    end if;
    return howdah._by_alias(v_destination, p_name);
end
$$;
