-- howdah._run_poison_procedure(p_destination, p_message, p_nonpersistent, p_reason): let a queue's own function deal
-- with a message at its limit.
--
-- Returns  handled: whether it did; reason: p_reason, and that it did, or what went wrong.
-- Role     internal
--
-- The call is made of the catalog's names. The function runs as its owner, who has no rights in Howdah. The check and
-- the call may see two versions, or two functions of one name. So howdah._call_poison_procedure makes the call without
-- rights, and what was done is undone if the catalog has changed. Under an older snapshot, the check could miss the
-- version that runs.
--
-- Settings that the function changes, such as search_path, would stay, and later statements here would call its
-- functions. So the first condition after the call names everything with its schema, and no function of ours says there
-- which version the catalog has.
--
-- A rollback leaves prepared statements, which the session's client would execute as its own. Those of the function are
-- dropped, however it ended.
create or replace function howdah._run_poison_procedure(
    p_destination howdah.destinations, p_message howdah.msgs, p_nonpersistent boolean, p_reason text
) returns table (handled boolean, reason text)
language plpgsql volatile
as $$
declare
    v_name constant text := p_destination.poison_procedure;
    v_schema constant text := split_part(v_name, '.', 1);
    v_function constant text := split_part(v_name, '.', 2);
    v_path constant text := current_setting('search_path');
    v_settings constant jsonb := howdah._session_settings();
    v_changed text;
    v_not text;
    v_attempting constant text := coalesce(current_setting('howdah.attempting', true), '');
    v_connection constant text := coalesce(current_setting('howdah.connection', true), '');
    v_client_id constant text := coalesce(current_setting('howdah.client_id', true), '');
    v_left constant jsonb[] := array(select l.* from howdah._left_in_session() l);
    v_incidents constant jsonb := howdah._poison_incidents(p_destination.id, p_message);
    v_given constant howdah.message := howdah._message(p_message, p_destination.name, p_nonpersistent,
        greatest(jsonb_array_length(v_incidents) - 1, 0));
    v_version constant text := howdah._poison_procedure_version(v_name);
    v_oid constant oid := split_part(v_version, ' ', 1);
    v_fault text := howdah._poison_procedure_fault(v_name, p_destination.poison_procedure_owner);
begin
    if howdah._has_old_snapshot() then
        v_fault := 'the transaction is not READ COMMITTED';
    end if;
    if v_fault is null then
        begin
            perform set_config('howdah.attempting', '', true);  -- a secret while attempts are begun
            perform set_config('howdah.connection', '', true);  -- a token
            select pg_get_userbyid(n.nspowner) into v_not
            -- one-role mode has no other
            from pg_namespace n, howdah.engine e where n.nspname = 'howdah'
                and pg_get_userbyid(n.nspowner) <> e.admin_role;
            handled := howdah._call_poison_procedure(v_not, v_schema, v_function, v_given, v_incidents);
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
            end if;
        exception when others or assert_failure then
            v_fault := format('%s: %s', sqlstate, left(sqlerrm, 500));
            handled := false;
        end;
    end if;
    handled := coalesce(handled, false);
    reason := p_reason;
    if v_fault is not null then
        perform howdah._drop_prepared(v_left);
        raise warning 'poison procedure % of queue %: %', v_name, p_destination.name, v_fault;
        reason := format('%s; poison procedure %s failed: %s', p_reason, v_name, v_fault);
        if p_destination.notify_admin then
            perform howdah._advise('POISON_PROCEDURE_FAILED', p_destination.name,
                jsonb_build_object('message_id', p_message.message_id, 'procedure', v_name, 'reason', v_fault));
        end if;
    elsif handled then
        reason := format('%s; dealt with by poison procedure %s', p_reason, v_name);
    end if;
    return next;
end
$$;
