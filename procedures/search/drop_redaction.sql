-- howdah.drop_redaction(pattern, path, reason): show again what a redaction rule hid.
--
-- Returns  true if there was such a rule (boolean).
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_admin
create or replace function howdah.drop_redaction(pattern text, path text, reason text default null) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    delete from howdah.redactions r where r.pattern = drop_redaction.pattern and r.path = drop_redaction.path;
    if not found then
        return false;
    end if;
    perform howdah._record_act('unredacted', null, '{}', null, concat_ws(': ', pattern || ' ' || path, reason));
    return true;
end
$$;
