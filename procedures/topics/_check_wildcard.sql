-- howdah._check_wildcard(p_pattern): refuse a pattern that is no wildcard.
--
-- Raises   HD003 it is no wildcard.
-- Role     internal
create or replace function howdah._check_wildcard(p_pattern text) returns void
language plpgsql immutable
as $$
begin
    if p_pattern !~ '^([A-Za-z0-9_/-]+|[*])([.]([A-Za-z0-9_/-]+|[*]))*([.]>)?$|^>$' then
        raise exception using errcode = 'HD003', message = format('%s is no wildcard',
            quote_literal(left(p_pattern, 250))),
            hint = 'Parts between dots; * stands for one part, > at the end for the rest: STOCKS.*.EU, STOCKS.>.';
    end if;
end
$$;
