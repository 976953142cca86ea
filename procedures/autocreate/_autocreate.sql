-- howdah._autocreate(p_name, p_kind): create a queue or topic for its first user, in the user's transaction.
--
-- Raises   HD002 nine tenths of all numbers are taken; HD010 the caller may not create it.
-- Role     internal
--
-- p_kind: as in howdah._ensure_destination. It does nothing if the engine's options do not say so, or if the name
-- belongs to the engine or could not be created. The caller's lookup then says what is wrong.
--
-- One of several first users creates it. The others wait for the end of that transaction, and use what it created. If
-- it rolled back, the next one creates it. A REPEATABLE READ transaction cannot see what others created, and fails
-- with 40001. Two transactions that use two new names in different order wait for each other, and one fails with
-- 40P01.
create or replace function howdah._autocreate(p_name text, p_kind text) returns void
language plpgsql volatile
as $$
declare
    v_options jsonb;
    v_destination howdah.destinations;
begin
    if p_kind is null then
        select d.kind into p_kind from howdah.destinations d
        where d.name = p_name and d.auto_created and d.dropped_at is not null order by d.dropped_at desc limit 1;
        p_kind := coalesce(p_kind, 'queue');
    end if;
    select e.autocreate_options into v_options from howdah.engine e
    where case p_kind when 'queue' then e.autocreate_queue else e.autocreate_topic end;
    if not found or (p_name ~ '^[A-Za-z0-9._/-]{1,242}$') is not true or p_name ~ '^(_?SYSTEM|_TEMP)[.]'
       or exists (select from howdah.aliases a where a.name = p_name) then
        return;
    elsif not howdah._has_right_by_name(p_kind, p_name, 'create') then
        raise exception using errcode = 'HD010',
            message = format('there is no %s %s, and role %s may not create it', p_kind, quote_literal(p_name),
                quote_ident(howdah._caller())),
            hint = 'Ask an administrator to create it, or for the right to create.';
    end if;
    perform howdah._check_creation();
    perform pg_advisory_xact_lock(howdah._lock_key('name', p_name));
    if exists (select from howdah.destinations d where d.name = p_name and d.dropped_at is null) then
        return;
    end if;
    v_options := jsonb_build_array(v_options, howdah._policy_for(p_name));
    if not howdah._create_again(p_name, p_kind, v_options) then
        if pg_sequence_last_value(pg_get_serial_sequence('howdah.destinations', 'id')) >= 900000 then
            raise exception using errcode = 'HD002',
                message = format('there is no %s %s, and 900,000 of the 999,999 numbers are taken', p_kind,
                    quote_literal(p_name)),
                hint = 'The others are left to administrators: ask one to create it.';
        end if;
        v_destination := howdah._new_destination(p_name);
        v_destination.auto_created := true;
        if p_kind = 'queue' then
            v_destination := howdah._with_options(howdah._with_options(v_destination, v_options -> 0), v_options -> 1);
            v_destination.journal_level_at := v_destination.created_at;
            v_destination.id := howdah._store_queue(v_destination);
            perform howdah._open_room(v_destination.id);
        else
            v_destination.id := howdah._store_topic(v_destination, howdah._auto_options('topic', v_options -> 0));
        end if;
        insert into howdah.auto_destinations (destination_id, options, seen_at, boot)
        values (v_destination.id, v_options, howdah.now(), pg_postmaster_start_time());
    end if;
    perform howdah._record_change(p_kind, p_name, 'created', null, jsonb '{"auto_created": true}');
end
$$;
