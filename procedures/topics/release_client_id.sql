-- howdah.release_client_id(): give back the client id that this session has claimed, and publish under none.
--
-- Returns  whether it had claimed one.
-- Raises   HD010 called out of a maintenance command.
-- Role     howdah_producer howdah_consumer howdah_admin
create or replace function howdah.release_client_id() returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_claimed integer := howdah._claimed_client_id();
begin
    perform howdah._refuse_maintenance();
    perform set_config('howdah.client_id', '', false);
    return v_claimed is not null and pg_advisory_unlock(1213154386, v_claimed);
end
$$;
