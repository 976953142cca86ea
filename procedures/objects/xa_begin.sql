-- howdah.xa_begin(factory): begin a transaction over several databases, whose log this engine keeps.
--
-- Returns  its name (text). The branches are prepared under the name, a colon and a number.
-- Raises   HD003 the factory's name is no name of an object; HD010 called from a maintenance command.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- It takes effect when it is committed, which must be before the first branch is prepared.
create or replace function howdah.xa_begin(factory text) returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_name text := format('howdah:xa:%s:%s', howdah._engine_id(), gen_random_uuid());
begin
    perform howdah._refuse_maintenance();
    if (factory ~ '^[A-Za-z0-9_][A-Za-z0-9._/-]{0,241}$') is not true then
        raise exception using errcode = 'HD003', message = 'bad name of a connection factory',
            hint = 'It is the name by which the factory is looked up.';
    end if;
    perform howdah._commit_needs(4);
    insert into howdah.xa_transactions (transaction_id, factory, begun_at, begun_by)
    values (v_name, xa_begin.factory, howdah.now(), howdah._caller());
    return v_name;
end
$$;
