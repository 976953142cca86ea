-- howdah.drop_policy(pattern): delete the options of a wildcard; queues keep the options that they have.
--
-- Returns  true if there was one (boolean).
-- Raises   HD010 not allowed; HD045 the master of changes is away.
-- Role     howdah_admin
create or replace function howdah.drop_policy(pattern text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_before jsonb := howdah._properties('policy', pattern);
begin
    perform howdah._check_pattern_right(pattern);
    delete from howdah.destination_policies p where p.pattern = drop_policy.pattern;
    perform howdah._record_change('policy', pattern, 'dropped', v_before, null);
    return v_before is not null;
end
$$;
