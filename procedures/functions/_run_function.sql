-- howdah._run_function(p_kind, p_name, p_owner, p_message, p_incidents): call a function of an application.
--
-- Returns  answer: what a poison procedure returned; made: what a transformation returned. Or fault: what went wrong,
--          with error_state
--          (an SQLSTATE) and context of the error. error_state NULL: the function was not called.
-- Role     internal
--
-- The call uses the catalog's names. The function runs as its owner, who has no rights in Howdah. The check and the
-- call may see two versions, or two functions of one name. So howdah._call_poison_procedure and
-- howdah._call_transformation make the call without rights. If the catalog has changed, the call's work is undone.
-- Under an older snapshot, the check could miss the version that runs.
--
-- Settings that the function changes, such as search_path, would stay, and later statements here would call its
-- functions. So the first condition after the call names everything with its schema, and no function of ours says there
-- which version the catalog has.
--
-- A rollback leaves prepared statements, which the session's client would execute as its own. The function's are
-- dropped, however it ended.
create or replace function howdah._run_function(
    p_kind text, p_name text, p_owner text, p_message howdah.message, p_incidents jsonb,
    out answer boolean, out made howdah.message, out fault text,
    out error_state text, out context text
) returns record
language plpgsql volatile
as $$
declare
    v_schema constant text := split_part(p_name, '.', 1);
    v_function constant text := split_part(p_name, '.', 2);
    v_path constant text := current_setting('search_path');
    v_settings constant jsonb := howdah._session_settings();
    v_changed text;
    v_not text;
    v_attempting constant text := coalesce(current_setting('howdah.attempting', true), '');
    v_connection constant text := coalesce(current_setting('howdah.connection', true), '');
    v_client_id constant text := coalesce(current_setting('howdah.client_id', true), '');
    v_left constant jsonb[] := array(select l.* from howdah._left_in_session() l);
    v_version constant text := howdah._function_version(p_name, p_kind);
    v_oid constant oid := split_part(v_version, ' ', 1);
begin
    fault := howdah._function_fault(p_name, p_owner, p_kind);
    if howdah._has_old_snapshot() then
        fault := 'the transaction is not READ COMMITTED';
    end if;
    if fault is not null then
        return;
    end if;
    begin
        perform set_config('howdah.attempting', '', true);  -- a secret while attempts are begun
        perform set_config('howdah.connection', '', true);  -- a token
        select pg_get_userbyid(n.nspowner) into v_not
        -- one-role mode has no other
        from pg_namespace n, howdah.engine e where n.nspname = 'howdah'
            and pg_get_userbyid(n.nspowner) <> e.admin_role;
        if p_kind = 'transformation' then
            made := howdah._call_transformation(v_not, v_schema, v_function, p_message);
        else
            answer := howdah._call_poison_procedure(v_not, v_schema, v_function, p_message, p_incidents);
        end if;
        if pg_catalog.current_setting('search_path') operator(pg_catalog.<>) v_path then
            raise exception 'it changed search_path: give it a SET clause';
        elsif not exists (
            select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
            where p.oid = v_oid and concat_ws(' ', p.oid, p.xmin, p.ctid, n.oid, n.xmin, n.ctid) = v_version
        ) then
            raise exception 'it was replaced while it ran';
        end if;
        v_changed := case when current_setting('howdah.connection') <> '' then 'howdah.connection'
            when coalesce(current_setting('howdah.client_id', true), '') <> v_client_id then 'howdah.client_id' end;
        if v_changed is not null then
            raise exception 'it changed %', v_changed;
        elsif exists (select from howdah._left_in_session() l(what) where l.what <> all (v_left)) then
            raise exception 'it left a prepared statement or a cursor WITH HOLD';
        end if;
        perform set_config('howdah.attempting', v_attempting, true);
        perform set_config('howdah.connection', v_connection, true);
        select min(coalesce(o.key, n.key)) into v_changed
        from jsonb_each(v_settings) o full join jsonb_each(howdah._session_settings()) n on n.key = o.key
        where o.value is distinct from n.value;
        if v_changed is not null then
            raise exception 'it changed %: give it a SET clause', v_changed;
        elsif p_kind = 'transformation' and howdah._made_fault(made) is not null then
            raise exception '%', howdah._made_fault(made);
        end if;
    exception when others or assert_failure then
        get stacked diagnostics context = pg_exception_context;
        error_state := sqlstate;
        fault := sqlerrm;
        answer := null;
        made := null;
    end;
    if fault is not null then
        perform howdah._drop_prepared(v_left);
    end if;
end
$$;
