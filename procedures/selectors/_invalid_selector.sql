-- howdah._invalid_selector(p_position, p_what, p_hint): raise the error for an invalid selector.
--
-- Raises   HD023 always.
-- Role     internal
create or replace function howdah._invalid_selector(
    p_position integer, p_what text, p_hint text default null
) returns void
language plpgsql immutable
as $$
begin
    raise exception using errcode = 'HD023', message = format('invalid selector: %s at position %s', p_what,
        p_position),
        hint = coalesce(p_hint,
            'A selector is a condition over headers, such as: price > 100 AND region IN (''EU'', ''US''). Try it with '
            'howdah.selector_matches(selector, headers).');
end
$$;
