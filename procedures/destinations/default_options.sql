-- howdah.default_options(preset): all options of a queue that is created with a preset and nothing else.
--
-- Returns  a JSON object with the keys of howdah.queue_options.
-- Raises   HD004 there is no such preset; HD003 and HD010 never, because no name and no procedure is given.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
--
-- Options of a wildcard policy (howdah.set_policy) are not included.
create or replace function howdah.default_options(preset text default 'howdah') returns jsonb
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp set extra_float_digits = 1
as $$
    select jsonb_object_agg(k.key, to_jsonb(d) -> k.key)
    from howdah._with_options(howdah._new_destination('default'),
        jsonb_build_object('preset', default_options.preset)) d
    cross join howdah._option_kinds() k
    where k.owner = 'queue'
$$;
