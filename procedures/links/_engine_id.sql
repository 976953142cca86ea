-- howdah._engine_id(): the identity of this engine, by which the engines that links join know each other.
--
-- Returns  uuid: made from the cluster and the database, so that a copy in another database is another engine. A copy
--          of the whole cluster is not, until howdah.new_engine_id() is called there.
-- Role     internal
--
-- It is PL/pgSQL, which keeps its plan; a function in SQL that is not inlined would be planned at each call.
create or replace function howdah._engine_id() returns uuid
language plpgsql stable
as $$
begin
    return md5((select c.system_identifier from pg_control_system() c) || '/'
        || (select d.oid from pg_database d where d.datname = current_database())
        || coalesce('/' || (select e.identity_salt from howdah.engine e), ''))::uuid;
end
$$;
