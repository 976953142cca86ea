-- howdah.list_redactions(): list the redaction rules.
--
-- Returns  one row per rule, by pattern and path.
-- Role     howdah_admin howdah_browser howdah_auditor
create or replace function howdah.list_redactions() returns table (
    pattern text, path text, reason text, set_at timestamptz, set_by text
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select r.pattern, r.path, r.reason, r.set_at, r.set_by from howdah.redactions r order by r.pattern, r.path
$$;
