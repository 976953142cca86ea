-- howdah._engine_id(): the identity of this engine, by which the engines that links join know each other.
--
-- Returns  uuid: made from the cluster and the database, so that a copy in another database is another engine.
-- Role     internal
create or replace function howdah._engine_id() returns uuid
language sql stable
as $$
    select md5(c.system_identifier || '/' || d.oid)::uuid
    from pg_control_system() c, pg_database d where d.datname = current_database()
$$;
