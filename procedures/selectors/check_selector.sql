-- howdah.check_selector(selector): check a JMS message selector without using it.
--
-- Returns  the selector in its normal form: keywords in capitals, one space between words. NULL for a NULL, empty or
--          blank selector, which selects everything.
-- Raises   HD023 it is invalid; the message says what is wrong, and at which character.
-- Role     everybody
create or replace function howdah.check_selector(selector text) returns text
language plpgsql immutable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if howdah._compile_selector(selector) is null then
        return null;
    end if;
    return (
        select string_agg(case when t.lead or t.kind in (')', ',') then '' else ' ' end
            || case t.kind when 'string' then '''' || replace(t.value, '''', '''''') || ''''
                when 'name' then t.value when 'number' then t.value else t.kind end, '' order by t.position)
        from (
            select t.position, t.kind, t.value, coalesce(lag(t.kind) over (order by t.position), '(') = '(' as lead
            from howdah._selector_tokens(selector) t
            where t.kind <> 'end'
        ) t
    );
end
$$;
