-- howdah.drop_policy(pattern): delete the options of a wildcard; queues keep the options that they have.
--
-- Returns  true if there was one (boolean).
-- Role     howdah_admin
create or replace function howdah.drop_policy(pattern text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    delete from howdah.destination_policies p where p.pattern = drop_policy.pattern;
    return found;
end
$$;
