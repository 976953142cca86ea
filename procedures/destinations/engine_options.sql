-- howdah.engine_options(): the properties of the whole engine with their values.
--
-- Returns  a JSON object in the form that howdah.alter_engine takes.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.engine_options() returns jsonb
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select jsonb_object_agg(k.key, to_jsonb(e) -> case k.key when 'max_size' then 'max_bytes' else k.key end)
    from howdah.engine e cross join howdah._option_kinds() k
    where k.owner = 'engine'
$$;
