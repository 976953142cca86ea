-- howdah._check_pattern(p_pattern): refuse what is no pattern of queue names.
--
-- Raises   HD003 it is none.
-- Role     internal
create or replace function howdah._check_pattern(p_pattern text) returns void
language plpgsql immutable
as $$
begin
    if p_pattern is null or length(p_pattern) > 242
       or p_pattern !~ '^([A-Za-z0-9_/-]+|[*])([.]([A-Za-z0-9_/-]+|[*]))*([.]>)?$|^>$' then
        raise exception using errcode = 'HD003', message = format('%s is no pattern of queue names',
            coalesce(quote_literal(left(p_pattern, 250)), 'NULL')),
            hint =
                '242 characters at most: parts between dots; * stands for one part, > at the end for the rest: '
                'orders.*.eu, orders.>, >.';
    end if;
end
$$;
