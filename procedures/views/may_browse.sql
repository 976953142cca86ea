-- howdah.may_browse(destination_id): whether the caller may read the bodies of a destination's messages.
--
-- Returns  boolean; false for a temporary queue, which only its own connection browses. Once there is a
--          redaction rule, false where the caller may neither receive nor administer (docs/search.md).
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_auditor howdah_admin
create or replace function howdah.may_browse(destination_id integer) returns boolean
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select howdah._has_right(may_browse.destination_id, 'browse')
        and not exists (select from howdah.temporary_queues t where t.destination_id = may_browse.destination_id)
        and howdah._sees_bodies((select d.name from howdah.destinations d where d.id = may_browse.destination_id))
$$;
