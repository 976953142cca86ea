-- howdah._escaped_principals(p_principals): names of roles in one text, with commas between them.
--
-- Returns  text; a backslash stands before a comma, a backslash or a space that belongs to a name.
-- Role     internal
create or replace function howdah._escaped_principals(p_principals text[]) returns text
language sql immutable
as $$
    select string_agg(regexp_replace(p.name, E'([\\\\, #])', E'\\\\\\1', 'g'), ',' order by p.n)
    from unnest(p_principals) with ordinality p(name, n)
$$;
