-- howdah.end_instance(name): tell an instance to end, once it has finished what it has in hand.
--
-- Returns  true if there is one (boolean).
-- Role     howdah_admin
create or replace function howdah.end_instance(name text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    update howdah.instances i set ending = true where i.name = end_instance.name;
    return found;
end
$$;
