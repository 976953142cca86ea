-- howdah.link_engine(): who this engine is, for a forwarder that connects to it as the target of a link.
--
-- Returns  one row: engine_id, its identity (uuid); name.
-- Role     howdah_producer howdah_consumer howdah_admin
create or replace function howdah.link_engine() returns table (engine_id uuid, name text)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$ select howdah._engine_id(), e.name from howdah.engine e $$;
