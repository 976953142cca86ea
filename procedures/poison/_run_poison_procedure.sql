-- howdah._run_poison_procedure(p_destination, p_message, p_nonpersistent, p_reason): have a queue's own function deal with a message at its limit.
--
-- Returns  handled: whether it did; and reason: p_reason, and that it did, or what went wrong.
-- Role     internal
--
-- The call is made of the catalogue's names. The function runs as its owner, who is nobody of Howdah's. The check and the call may see two versions,
-- or two functions of one name: so howdah._call_poison_procedure makes the call without rights, and what was done is undone if the catalogue has
-- changed. Under an older snapshot the check could miss the version that runs.
-- Settings that it changes would stay: ours were its own then, such as search_path, and later statements here would call its functions. So the first
-- condition after the call names all that it uses with its schema, and no function of ours says there which version the catalogue has. A rollback
-- leaves prepared statements, which the session's client would execute as its own: those of the function are dropped however it ended.
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
    v_settings constant jsonb := howdah._settings();
    v_changed text;
    v_not text;
    v_attempting constant text := coalesce(current_setting('howdah.attempting', true), '');
    v_connection constant text := coalesce(current_setting('howdah.connection', true), '');
    v_client_id constant text := coalesce(current_setting('howdah.client_id', true), '');
    v_left constant jsonb[] := array(select l.* from howdah._left_in_session() l);
    v_incidents constant jsonb := howdah._poison_incidents(p_destination.id, p_message);
    v_given constant howdah.message := howdah._message(p_message, p_destination.name, p_nonpersistent, greatest(jsonb_array_length(v_incidents) - 1, 0));
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
            from pg_namespace n, howdah.engine e where n.nspname = 'howdah' and pg_get_userbyid(n.nspowner) <> e.admin_role;  -- one-role mode has no other
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
            from jsonb_each(v_settings) o full join jsonb_each(howdah._settings()) n on n.key = o.key
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

-- howdah._call_poison_procedure(p_not, p_schema, p_function, p_message, p_incidents): call a poison procedure without rights.
--
-- Returns  what it returns; an error if this would run as p_not or with its rights. NULL: whoever it runs as, as in one-role mode.
-- Role     internal
--
-- It belongs to a role without rights. So a function with its invoker's rights, put there after the check, has none. That function could alter this
-- one, as its owner: it could take SECURITY DEFINER away or set search_path. It cannot change the text, which asks in the same call that it makes.
create or replace function howdah._call_poison_procedure(
    p_not name, p_schema text, p_function text, p_message howdah.message, p_incidents jsonb
) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_handled boolean;
begin
    if p_not is not null and pg_catalog.pg_has_role(current_user, p_not, 'MEMBER') then
        raise exception 'it would run with the rights of %', p_not;
    end if;
    execute pg_catalog.format('select %I.%I($1, $2)', p_schema, p_function) into v_handled using p_message, p_incidents;
    return v_handled;
end
$$;

-- howdah._left_in_session(): the prepared statements and the cursors WITH HOLD of the session, which outlive its transaction.
--
-- Returns  arrays (jsonb) of kind, name, statement and time.
-- Role     internal
create or replace function howdah._left_in_session() returns setof jsonb
language sql volatile
as $$
    select jsonb_build_array('statement', s.name, s.statement, s.prepare_time) from pg_prepared_statements s
    union all
    select jsonb_build_array('cursor', c.name, c.statement, c.creation_time) from pg_cursors c where c.is_holdable
$$;

-- howdah._drop_prepared(p_but): drop the session's prepared statements but for those that howdah._left_in_session() told of before.
--
-- Role     internal
create or replace function howdah._drop_prepared(p_but jsonb[]) returns void
language plpgsql volatile
as $$
declare
    v_what jsonb;
begin
    for v_what in select l.what from howdah._left_in_session() l(what) where l.what ->> 0 = 'statement' and l.what <> all (p_but) loop
        execute format('deallocate %I', v_what ->> 1);
    end loop;
end
$$;

-- howdah._poison_incidents(p_destination_id, p_message): the last hundred incidents of a message in its queue, first to last.
--
-- Returns  jsonb, an array.
-- Role     internal
create or replace function howdah._poison_incidents(p_destination_id integer, p_message howdah.msgs) returns jsonb
language sql volatile
as $$
    select coalesce(jsonb_agg(to_jsonb(i) order by i.incident_id), '[]')
    from (
        select p.incident_id, p.recorded_at, p.attempt, p.error_class, p.error_text, p.sqlstate, p.worker, p.recorded_by, p.details
        from howdah.poison_details p
        where p.message_id = p_message.message_id and p.stage = p_message.stage and p.destination_id = p_destination_id
        order by p.incident_id desc limit 100
    ) i
$$;

-- howdah._poison_procedure_version(p_name): which version of a poison procedure the catalogue has.
--
-- Returns  text; NULL: there is none.
-- Role     internal
create or replace function howdah._poison_procedure_version(p_name text) returns text
language sql volatile
as $$
    select concat_ws(' ', p.oid, p.xmin, p.ctid, n.oid, n.xmin, n.ctid)
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = split_part(p_name, '.', 1) and p.proname = split_part(p_name, '.', 2) and p.pronargs = 2
      and p.proargtypes[0] = 'howdah.message'::regtype and p.proargtypes[1] = 'jsonb'::regtype
$$;

-- howdah._poison_procedure_is_definers(p_name, p_oid): whether the version of a function that this session would call is SECURITY DEFINER.
--
-- Returns  boolean.
-- Role     internal
--
-- A session calls what it has at hand, which may be older than the catalogue: it hears of changes when it takes a lock that it has not yet, and in a
-- transaction that received before it has all of them. pg_get_functiondef and to_regprocedure show what it has at hand.
create or replace function howdah._poison_procedure_is_definers(p_name text, p_oid oid) returns boolean
language sql volatile
as $$
    select to_regprocedure(d.name || '(howdah.message, jsonb)') = p_oid
        and starts_with(d.definition, d.head)
        and substr(d.definition, length(d.head) + 1) ~ E'^ LANGUAGE [^ \n]+\n( IMMUTABLE| STABLE)?( PARALLEL (SAFE|RESTRICTED))?( STRICT)? SECURITY DEFINER'
    from (
        select n.name, pg_get_functiondef(p_oid) as definition,
            format(E'CREATE OR REPLACE FUNCTION %s(%s)\n RETURNS boolean\n', n.name, pg_get_function_arguments(p_oid)) as head
        from (select format('%I.%I', split_part(p_name, '.', 1), split_part(p_name, '.', 2)) as name) n
    ) d
$$;

-- howdah._poison_procedure_fault(p_name, p_owner): why a function cannot be a poison procedure.
--
-- Returns  text; NULL: it can. p_owner: the role that it must belong to; NULL: any that is fit.
-- Role     internal
--
-- A function with its invoker's rights would run with those of howdah._call_poison_procedure's owner, who is the one to call it.
create or replace function howdah._poison_procedure_fault(p_name text, p_owner text) returns text
language sql volatile
as $$
    select case
        when f.oid is null then 'there is no such function (howdah.message, jsonb)'
        when f.prokind <> 'f' or f.proretset or f.prorettype <> 'boolean'::regtype then 'it is no function that returns boolean'
        when not f.prosecdef or not howdah._poison_procedure_is_definers(p_name, f.oid) then 'it is not SECURITY DEFINER'
        when f.rolsuper then format('it belongs to %s, a superuser', f.rolname)
        when pg_has_role(f.proowner, h.nspowner, 'MEMBER') then format('it belongs to %s, who may act as Howdah''s owner', f.rolname)
        when p_owner <> f.rolname then format('it belongs to %s, not to %s as when it was set', f.rolname, p_owner)
        when not has_schema_privilege(c.proowner, f.pronamespace, 'USAGE')
            then format('role %s, as which it is called, has no USAGE of its schema', pg_get_userbyid(c.proowner))
        when not has_function_privilege(c.proowner, f.oid, 'EXECUTE')
            then format('role %s, as which it is called, may not EXECUTE it', pg_get_userbyid(c.proowner))
    end
    from pg_namespace h
    left join pg_proc c on c.pronamespace = h.oid and c.proname = '_call_poison_procedure'
    left join (
        select p.oid, p.prokind, p.proretset, p.prorettype, p.prosecdef, p.proowner, p.pronamespace, r.rolsuper, r.rolname
        from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_roles r on r.oid = p.proowner
        where n.nspname = split_part(p_name, '.', 1) and p.proname = split_part(p_name, '.', 2) and p.pronargs = 2
          and p.proargtypes[0] = 'howdah.message'::regtype and p.proargtypes[1] = 'jsonb'::regtype
    ) f on true
    where h.nspname = 'howdah'
$$;

-- howdah._settings(): the session's settings as they are now, but for those that Howdah's functions make themselves.
--
-- Returns  jsonb, an object.
-- Role     internal
create or replace function howdah._settings() returns jsonb
language sql volatile
as $$ select jsonb_object_agg(s.name, s.setting) from pg_settings s where s.name !~ '^howdah[.]' $$;

-- howdah._check_poison_procedure(p_name): refuse a function that cannot be a poison procedure, or that the caller may not set.
--
-- Returns  the role that it belongs to (text).
-- Raises   HD004 it is not fit; HD010 the caller is no administrator of Howdah, or may not call it.
-- Role     internal
create or replace function howdah._check_poison_procedure(p_name text) returns text
language plpgsql volatile
as $$
declare
    v_fault text := howdah._poison_procedure_fault(p_name, null);
    v_function record;
begin
    if not howdah._has_role((select e.admin_role from howdah.engine e)) then
        raise exception using errcode = 'HD010', message = format('role %s may not set a poison procedure', quote_ident(howdah._caller())),
            hint = 'It runs in everybody''s receive: ask an administrator of Howdah.';
    elsif p_name !~ '^[^.]{1,63}[.][^.]{1,63}$' or v_fault is not null then
        raise exception using errcode = 'HD004', message = format('option poison_procedure cannot be %s: %s', quote_literal(left(p_name, 150)),
                coalesce(v_fault, 'it is not SCHEMA.FUNCTION')),
            hint = 'It is SCHEMA.FUNCTION, a function (howdah.message, jsonb) returning boolean, SECURITY DEFINER, which belongs to an ordinary role '
                'and which the role howdah_nobody may EXECUTE.';
    end if;
    select p.oid, p.pronamespace, pg_get_userbyid(p.proowner)::text as owner into v_function
    from pg_proc p where p.oid = split_part(howdah._poison_procedure_version(p_name), ' ', 1)::oid;
    if not has_function_privilege(howdah._caller()::name, v_function.oid, 'EXECUTE')
       or not has_schema_privilege(howdah._caller()::name, v_function.pronamespace, 'USAGE') then
        raise exception using errcode = 'HD010', message = format('role %s may not call %s', quote_ident(howdah._caller()), p_name),
            hint = 'Whoever sets a poison procedure must have the right to EXECUTE it.';
    end if;
    return v_function.owner;
end
$$;
