-- howdah._check_cron(p_cron): refuse a text that is no cron expression of five fields, or never comes.
--
-- Raises   HD005 a field is missing, unknown or out of bounds; no month of the expression has so many days.
-- Role     internal
--
-- The fields are minute, hour, day of the month, month and day of the week (0 and 7 are Sunday). *, lists, ranges,
-- steps and names work as in cron(8). The schedulers compute when it fires (workers/cron.py).
create or replace function howdah._check_cron(p_cron text) returns void
language plpgsql immutable
as $$
declare
    v_fields text[] := regexp_split_to_array(btrim(p_cron), '[[:space:]]+');
    v_names constant text[] := array['minute', 'hour', 'day of the month', 'month', 'day of the week'];
    v_lowest constant integer[] := array[0, 0, 1, 1, 0];
    v_highest constant integer[] := array[59, 23, 31, 12, 7];
    v_longest constant integer[] := array[31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    v_wrong text;
begin
    if cardinality(v_fields) <> 5 then
        v_wrong := format('%s fields, not 5', cardinality(v_fields));
    else
        select format('%s %s', v_names[f.n], quote_literal(left(p.part, 50))) into v_wrong
        from unnest(v_fields) with ordinality f(field, n)
        cross join lateral regexp_split_to_table(f.field, ',') p(part)
        cross join lateral (
            select regexp_match(lower(p.part),
                '^(?:[*]|([a-z]{3}|[0-9]{1,2})(?:-([a-z]{3}|[0-9]{1,2}))?)(?:/([0-9]{1,2}))?$') as found) m
        cross join lateral (select howdah._cron_number(m.found[1], f.n) as first,
            howdah._cron_number(m.found[2], f.n) as last) v
        where m.found is null or m.found[3]::integer = 0
           or m.found[1] is not null and (v.first between v_lowest[f.n] and v_highest[f.n]) is not true
           or m.found[2] is not null and (v.last between v.first and v_highest[f.n]) is not true
           or m.found[1] is not null and m.found[2] is null and m.found[3] is not null
        order by f.n limit 1;
    end if;
    -- Where both day fields are restricted, either may match: each day of the week comes in every month.
    if v_wrong is null and v_fields[5] like '*%' then
        select format('none of its months has %s days', d.first) into v_wrong
        from (
            select min(coalesce(substring(p.part from '^[0-9]+')::integer, 1)) as first
            from regexp_split_to_table(v_fields[3], ',') p(part)) d
        where d.first > (
            select max(v_longest[m.month])
            from regexp_split_to_table(lower(v_fields[4]), ',') p(part)
            cross join lateral regexp_match(p.part, '^([^-/]+)(?:-([^/]+))?(?:/([0-9]+))?$') f(found)
            cross join lateral (select howdah._cron_number(f.found[1], 4) as first,
                howdah._cron_number(f.found[2], 4) as last) v
            cross join lateral generate_series(coalesce(v.first, 1), coalesce(v.last, v.first, 12),
                coalesce(f.found[3]::integer, 1)) m(month));
    end if;
    if v_wrong is not null then
        raise exception using errcode = 'HD005',
            message = format('cron expression %s is wrong: %s', quote_literal(left(p_cron, 200)), v_wrong),
            hint =
                'Minute, hour, day of the month, month, day of the week, such as "30 8 * * mon-fri" or "*/10 * * * *".';
    end if;
end
$$;
