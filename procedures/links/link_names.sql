-- howdah.link_names(): the links that the caller may run, for a process that runs all of them.
--
-- Returns  their names (text[]), those that are paused too.
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.link_names() returns text[]
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select array(select l.name::text from howdah.links l
        where howdah._has_right(l.source_id, 'receive')
        order by l.name)
$$;
