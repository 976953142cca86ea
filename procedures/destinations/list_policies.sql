-- howdah.list_policies(): list the wildcard policies.
--
-- Returns  one row per pattern.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.list_policies() returns table (
    pattern text, options jsonb, set_at timestamptz, set_by text
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$ select p.pattern, p.options, p.set_at, p.set_by from howdah.destination_policies p order by p.pattern $$;
