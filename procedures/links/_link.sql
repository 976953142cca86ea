-- howdah._link(p_name, p_verb): the link with a given name, if the caller has a right to its source.
--
-- Returns  the row of howdah.links; p_verb is receive, browse or admin.
-- Raises   HD010 the caller does not have the right p_verb to its source; HD041 there is no such link.
-- Role     internal
create or replace function howdah._link(p_name text, p_verb text) returns howdah.links
language plpgsql stable
as $$
declare
    v_link howdah.links;
begin
    select l.* into v_link from howdah.links l where l.name = p_name;
    if not found then
        raise exception using errcode = 'HD041',
            message = format('there is no link %s', coalesce(quote_literal(left(p_name, 250)), 'NULL')),
            hint = 'Create it with howdah.create_link(name, …), or see howdah.list_links().';
    end if;
    if not howdah._has_right(v_link.source_id, p_verb) then
        raise exception using errcode = 'HD010',
            message = format('role %s may not %s on the source of link %s', quote_ident(howdah._caller()), p_verb,
                quote_literal(p_name)),
            hint = 'Ask an administrator for membership in a role that has this right (howdah.list_grants).';
    end if;
    return v_link;
end
$$;
