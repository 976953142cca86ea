-- howdah.new_engine_id(): give this engine another identity, after its whole cluster was copied to become another one.
--
-- Returns  the identity (uuid), by which links know the engine.
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_admin
--
-- Servers that were made from one image, or from a base backup, have one identity, and no link between them works. Call
-- this on all but one of them. Links from here stop until howdah.rebase_link(name) is called.
create or replace function howdah.new_engine_id() returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_old constant uuid := howdah._engine_id();
begin
    update howdah.engine e set identity_salt = gen_random_uuid();
    perform howdah._record_change('cluster', 'identity', 'altered', jsonb_build_object('engine_id', v_old),
        jsonb_build_object('engine_id', howdah._engine_id()));
    return howdah._engine_id();
end
$$;
