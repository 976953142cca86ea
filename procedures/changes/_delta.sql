-- howdah._delta(p_from, p_to): the properties that differ, with their values in p_to.
--
-- Returns  jsonb; without properties that p_to does not have.
-- Role     internal
create or replace function howdah._delta(p_from jsonb, p_to jsonb) returns jsonb
language sql immutable
as $$
    select coalesce(jsonb_object_agg(t.key, t.value), '{}') from jsonb_each(p_to) t
    where t.value is distinct from p_from -> t.key
$$;
