-- howdah._add_destination(p_destination): store a new destination with the rights that the access rules give there.
--
-- Returns  its number (integer).
-- Raises   HD002 a destination of that name exists, or all numbers are taken.
-- Role     internal
create or replace function howdah._add_destination(p_destination howdah.destinations) returns integer
language plpgsql volatile
as $$
declare
    v_id integer := coalesce(howdah._spare_number(), howdah._new_number());
begin
    perform howdah._hold_limits();
    p_destination.own_persistent := p_destination.persistent;
    select p_destination.persistent and e.persistent, s.halted, s.halted
    into p_destination.persistent, p_destination.sending_paused, p_destination.receiving_paused
    from howdah.engine e cross join (select howdah._engine_state() <> 'running' as halted) s;
    insert into howdah.destinations overriding system value
    select n.*
    from (select where not exists (select from howdah.destinations d
        where d.name = p_destination.name and d.dropped_at is null)
            and not exists (select from howdah.aliases a where a.name = p_destination.name)) new
    cross join lateral jsonb_populate_record(p_destination,
        jsonb_build_object('id', v_id,
        'positions', coalesce(to_regclass('howdah.positions_' || v_id), howdah._new_positions(v_id)),
        'failing', 'howdah.failing_' || v_id % 16, 'special', 'howdah.special_' || v_id % 16,
        'head', coalesce(to_regclass('howdah.head_of_' || v_id), howdah._new_hint('head_of_' || v_id)),
        'search', coalesce(to_regclass('howdah.search_of_' || v_id), howdah._new_hint('search_of_' || v_id)),
        'waiting', coalesce(to_regclass('howdah.waiting_' || v_id), howdah._new_hint('waiting_' || v_id)),
        'main_rank', case when p_destination.persistent then 9 - p_destination.default_priority else -1 end, 'senders',
        array[]::text[], 'receivers', array[]::text[])) n
    on conflict do nothing;
    if not found then
        raise exception using errcode = 'HD002', message = format('queue %s exists already',
            quote_literal(p_destination.name)),
            hint = 'Change it with howdah.alter_queue(name, options).';
    end if;
    perform howdah._share_rules();
    perform howdah._compile_rights(array[v_id]);
    perform howdah._copy_rights_of(array[v_id]) from howdah.destinations d
    where d.id = v_id and (d.senders, d.receivers) = ('{}', '{}');  -- otherwise a trigger has done it
    perform howdah._note_special(d) from howdah.destinations d where d.id = v_id;
    perform howdah._set_room(v_id);
    if p_destination.kind = 'queue' and not p_destination.auto_created then
        perform howdah._record_change('queue', p_destination.name, 'created', null,
            howdah._properties('queue', p_destination.name));
    end if;
    return v_id;
end
$$;
