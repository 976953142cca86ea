-- howdah.record_user(name, before, password): record that a user or group was made, altered or dropped, as howdah user
-- does.
--
-- Returns  nothing. before: what howdah.user_state(name) was; password: it was changed, too.
-- Raises   HD005 name is NULL; HD010 called from a maintenance command; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- PostgreSQL fires no trigger for roles. The state after it is read from the server's catalog, in the transaction that
-- changed the role.
create or replace function howdah.record_user(name text, before jsonb, password boolean default false) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_after constant jsonb := howdah.user_state(name) || case when password then jsonb '{"password": "changed"}'
        else '{}' end;
begin
    if name is null then
        raise exception using errcode = 'HD005', message = 'name cannot be NULL';
    end if;
    perform howdah._record_change('user', name, case when before is null then 'created'
        when v_after is null then 'dropped' else 'altered' end, before, v_after);
end
$$;
