-- howdah.drop_alias(alias): end an alias; the queue or topic that it stands for stays.
--
-- Returns  true if there was one (boolean).
-- Raises   HD001, HD010 the caller does not administer the target; HD045 the master of changes is away.
-- Role     howdah_admin
create or replace function howdah.drop_alias(alias text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_target text := (select a.target from howdah.aliases a where a.name = alias);
    v_before jsonb := howdah._properties('alias', alias);
begin
    if exists (select from howdah.destinations d where d.name = v_target and d.dropped_at is null) then
        perform howdah._destination(v_target, 'admin');
    end if;
    delete from howdah.aliases a where a.name = alias;
    perform howdah._record_change('alias', alias, 'dropped', v_before, null);
    return v_before is not null;
end
$$;
