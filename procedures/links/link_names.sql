-- howdah.link_names(): the links that the caller may run, for a process that runs all of them.
--
-- Returns  their names (text[]), those that are paused too.
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.link_names() returns text[]
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select array(select l.name::text from howdah.links l
        where exists (select from howdah.destination_grants g
            where g.destination_id = l.source_id and g.verb = 'receive' and howdah._has_role(g.role_name))
        order by l.name)
$$;
