-- howdah.drop_transformation(name): forget a transformation; its function stays.
--
-- Returns  whether there was one (boolean).
-- Raises   HD010 called from a maintenance command; HD049 a bridge, link or subscription uses it; HD045 the master of
--          changes is away.
-- Role     howdah_admin
create or replace function howdah.drop_transformation(name text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_before jsonb := howdah._properties('transformation', drop_transformation.name);
    v_user text;
begin
    perform howdah._refuse_maintenance();
    -- Whoever begins to use it holds its row.
    perform from howdah.transformations t where t.name = drop_transformation.name for update;
    select u.kind || ' ' || u.used_by into v_user
    from howdah._transformation_users() u where u.transformation = drop_transformation.name limit 1;
    if found then
        raise exception using errcode = 'HD049',
            message = format('the transformation %s is used by %s', quote_literal(drop_transformation.name), v_user),
            hint = 'howdah.list_transformations() says who uses it.';
    end if;
    -- What is left of subscriptions that have ended, until maintenance has taken their rows away.
    update howdah.subscriptions s set transformation = null where s.transformation = drop_transformation.name;
    delete from howdah.transformations t where t.name = drop_transformation.name;
    if not found then
        return false;
    end if;
    perform howdah._record_change('transformation', drop_transformation.name, 'dropped', v_before, null);
    return true;
end
$$;
