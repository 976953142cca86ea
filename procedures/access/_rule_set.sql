-- howdah._rule_set(p_name): refuse the name of a set of rules that does not exist.
--
-- Returns  the name (text).
-- Raises   HD005 there is no such set.
-- Role     internal
create or replace function howdah._rule_set(p_name text) returns text
language plpgsql stable
as $$
begin
    if not exists (select from howdah.access_rule_sets s where s.name = p_name) then
        raise exception using errcode = 'HD005',
            message = format('there is no rule set %s', coalesce(quote_literal(left(p_name, 100)), 'NULL')),
            hint = 'See howdah.list_rule_sets(), or create it with howdah.create_rule_set(name).';
    end if;
    return p_name;
end
$$;
