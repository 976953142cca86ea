-- howdah.backup_changes(): the record of changes and all that it has led to, to be kept in a file.
--
-- Returns  JSON objects, one a line of the file: a heading, each thing as it is now, and each change.
-- Role     howdah_admin
--
-- There are no messages in it, and no secrets. howdah.restore_changes takes it.
create or replace function howdah.backup_changes() returns setof jsonb
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    return query
    select jsonb_build_object('howdah', 'changes', 'version', 1, 'engine', e.name, 'record_id', e.record_id, 'at',
        howdah.now())
    from howdah.engine e;
    return query
    select jsonb_build_object('kind', c.kind, 'name', c.name, 'properties', c.properties)
    from howdah._catalogue() c order by c.n;
    return query
    select jsonb_build_object('change', to_jsonb(c) - 'transaction') from howdah.config_changes c order by c.change_id;
end
$$;
