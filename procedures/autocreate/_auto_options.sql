-- howdah._auto_options(p_kind, p_options): the engine's autocreate_options that a kind has, with the options of their
-- preset.
--
-- Returns  jsonb.
-- Role     internal
create or replace function howdah._auto_options(p_kind text, p_options jsonb) returns jsonb
language sql immutable
as $$
    select coalesce(jsonb_object_agg(o.key, o.value), '{}')
    from jsonb_each(coalesce(howdah._preset(p_options ->> 'preset'), '{}') || p_options) o
    where o.key in (select k.key from howdah._option_kinds() k where k.owner = p_kind and k.key <> 'preset')
$$;
