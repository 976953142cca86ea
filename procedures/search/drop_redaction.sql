-- howdah.drop_redaction(pattern, path, reason): show again what a redaction rule hid.
--
-- Returns  true if there was such a rule (boolean).
-- Raises   HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
create or replace function howdah.drop_redaction(pattern text, path text, reason text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_name text := pattern || ' ' || path;
    v_before jsonb := howdah._properties('redaction', v_name);
begin
    perform howdah._refuse_maintenance();
    perform howdah._check_pattern_right(pattern);
    delete from howdah.redactions r where r.pattern = drop_redaction.pattern and r.path = drop_redaction.path;
    perform howdah._record_change('redaction', v_name, 'dropped', v_before, null, null, reason);
    return v_before is not null;
end
$$;
