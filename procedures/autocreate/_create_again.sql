-- howdah._create_again(p_name, p_kind, p_options): create a destination again that created itself before, under its
-- former number.
--
-- Returns  true; false if there was none, or its options were others and it holds no messages.
-- Role     internal
--
-- So a name that comes and goes uses one number. A message that was committed just after the end is in the queue again,
-- in its place. Positions continue where they ended, so no message gets a number twice. The destination keeps its first
-- creation time and creator, because its journal is as old.
create or replace function howdah._create_again(p_name text, p_kind text, p_options jsonb) returns boolean
language plpgsql volatile
as $$
declare
    v_former howdah.destinations;
begin
    select d.* into v_former
    from howdah.destinations d join howdah.auto_destinations a on a.destination_id = d.id
    where d.name = p_name and d.dropped_at is not null and d.auto_created and d.kind = p_kind
      and (a.options = p_options or howdah._holds_messages(d.id))
    order by d.dropped_at desc limit 1
    for update of d;
    if not found then
        return false;
    end if;
    if p_kind = 'topic' or p_name ~ '^Consumer[.][^.]+[.]VirtualTopic[.]' then
        perform howdah._lock_names();
    end if;
    perform howdah._hold_limits();
    if v_former.positions = 0::regclass then
        v_former.positions := howdah._new_positions(v_former.id);
        v_former.head := howdah._new_hint('head_of_' || v_former.id);
        v_former.search := howdah._new_hint('search_of_' || v_former.id);
        perform setval(s.name, greatest(a.last_position, 1))
        from howdah.auto_destinations a, unnest(array[v_former.positions, v_former.head]) s(name)
        where a.destination_id = v_former.id and a.last_position is not null;
    end if;
    update howdah.destinations d
    set dropped_at = null, positions = v_former.positions, head = v_former.head, search = v_former.search,
        sending_paused = s.halted, receiving_paused = s.halted,
        persistent = d.own_persistent and e.persistent,
        main_rank = case when d.kind <> 'queue' or (d.own_persistent and e.persistent) = d.persistent then d.main_rank
            when d.own_persistent and e.persistent then 9 - d.default_priority else -1 end
    from howdah.engine e cross join (select howdah._engine_state() <> 'running' as halted) s
    where d.id = v_former.id;
    perform howdah._share_rules();
    perform howdah._compile_rights(array[v_former.id]);  -- rules may have changed meanwhile
    perform howdah._copy_rights_of(array[v_former.id]);
    perform howdah._set_room(v_former.id);
    perform howdah._note_special(d) from howdah.destinations d where d.id = v_former.id;
    update howdah.auto_destinations a set seen_at = howdah.now(), seen = null, looked_at = null,
        boot = pg_postmaster_start_time()
    where a.destination_id = v_former.id;
    if p_kind = 'topic' then
        perform howdah._join_readers(v_former);
    elsif p_name ~ '^Consumer[.][^.]+[.]VirtualTopic[.]' then
        perform howdah._join_virtual_topic(v_former.id, p_name);
    end if;
    return true;
end
$$;
