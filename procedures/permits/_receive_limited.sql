-- howdah._receive_limited(p_id, p_name, p_want, p_hold, p_selector, p_consumer): receive from a queue whose concurrency
-- or rate is limited.
--
-- Returns  up to p_want rows of howdah.message; at most 50 if there are limits by key. No row if a limit is reached.
-- Raises   HD005 a limit of concurrency needs READ COMMITTED; others as howdah._admit.
-- Role     internal
--
-- It takes messages first, as any receive does, and then permits for exactly those. If there are too few, a
-- subtransaction gives the messages back at once. So nobody holds a permit without a message, or a message without a
-- permit.
--
-- It skips a key without room, and the oldest message of any other key comes next. With an older snapshot, a
-- transaction would not see which permits are leased.
create or replace function howdah._receive_limited(
    p_id integer, p_name text, p_want integer, p_hold boolean, p_selector text, p_consumer bigint
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_queue howdah.destinations;
    v_by_key boolean;
    v_left integer;
    v_next integer;
    v_messages howdah.message[];
    v_room record;
    v_short boolean;
    v_full text[] := '{}';
    v_held bigint[] := '{}';
    v_groups text[] := '{}';
    v_failed integer := 0;
begin
    select d.* into v_queue from howdah.destinations d where d.id = p_id;
    v_by_key := howdah._is_limited_by_key(v_queue);
    perform howdah._check_snapshot_for_permits(v_queue);
    v_left := least(p_want, case when v_by_key then 50 else 10000 end);
    v_next := case when v_by_key then 1 else v_left end;
    loop
        v_next := least(v_next, howdah._permit_room(v_queue, null, least(v_next, v_left)));
        exit when v_next <= 0;
        v_short := false;
        begin
            v_messages := array(
                select r from howdah._receive_by_lane(p_id, p_name, v_next, p_hold, p_selector, p_consumer, false,
                    case when v_by_key then format(
                        '((m.headers ->> %L) <> all (%L::text[])) is not false and m.seq <> all (%L::bigint[])'
                        ' and (howdah._group(m.headers, m.conversation_id) <> all (%L::text[])) is not false',
                        v_queue.limit_key, v_full, v_held, v_groups) end) r);
            exit when cardinality(v_messages) = 0;
            v_room := howdah._permit_messages(v_queue, v_messages, p_hold);
            if v_room.room < cardinality(v_messages) then
                v_short := true;
                raise exception 'the messages and permits go with this';
            end if;
        exception when raise_exception then
            if not v_short then
                raise;
            end if;
        end;
        if not v_short then
            if v_queue.keep_bodies_ms is not null and not p_hold then
                perform howdah._keep(p_id, v_messages, v_queue.keep_bodies_ms);
            end if;
            return query select * from unnest(v_messages);
            v_left := v_left - cardinality(v_messages);
            if p_hold then  -- SKIP LOCKED does not skip our own locks
                v_held := v_held || v_messages[1]."position";
                if v_queue.message_groups <> 'none' then  -- a hold has one of each group
                    v_groups := array_remove(v_groups
                        || howdah._group(v_messages[1].headers, v_messages[1].conversation_id), null);
                end if;
            end if;
            exit when v_left <= 0 or not v_by_key;
        elsif v_room.by_key then
            v_full := howdah._full_keys(v_queue, v_full || array[v_messages[1].headers ->> v_queue.limit_key]);
        else
            v_next := v_room.room;  -- another transaction was faster
            v_failed := v_failed + 1;
            exit when v_failed > 3;
        end if;
    end loop;
end
$$;
