-- howdah.release_client_id(): release the client id that this session has claimed, and publish under none.
--
-- Returns  true if the session had claimed one (boolean).
-- Raises   HD010 called from a maintenance command.
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
