-- howdah.act_on_matching(queue, act, filter, reason, batch, options): deal with one batch of the messages that match a
-- filter of howdah.find_messages.
--
-- Returns  one row: done, passed, looked, complete and cursor. done counts the messages dealt with. passed counts those
--          that match but are in somebody's hands, or have no queue to go back to. The next call goes on from cursor.
-- Raises   HD001 no such queue; HD005 wrong argument, or no reason; HD010 not allowed; HD013 never, because
--          messages in somebody's hands are left; HD023 the selector is invalid; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- act is retry (parked messages; delayed ones only with state delayed), replay (dead ones, to where they came from),
-- move, park or discard. options: target (move, replay), until and delay (park), after (the cursor).
--
-- One call deals with batch messages at most and looks at 100,000 rows at most, in the caller's transaction. It is
-- recorded in howdah.list_acts like the same act on single messages. Call it again with the cursor until complete.
create or replace function howdah.act_on_matching(
    queue text, act text, filter jsonb, reason text, batch integer default 1000, options jsonb default '{}'
) returns table (done bigint, passed bigint, looked bigint, complete boolean, cursor jsonb)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'admin');
    v_found record;
    v_ids bigint[];
    v_target text := options ->> 'target';
begin
    perform howdah._check_act(act, reason, batch, options);
    perform howdah._check_filter(filter, options -> 'after');
    select array_agg(f.place order by f.message_id) as places, array_agg(f.rank order by f.message_id) as ranks,
        array_agg(f.key order by f.message_id) as keys, array_agg(f.message_id order by f.message_id) as ids,
        count(f.message_id) as found, max(f.looked) as looked, bool_or(f.complete) as complete,
        (array_agg(f.cursor) filter (where f.message_id is null))[1] as cursor
    into v_found
    from howdah._found(v_destination,
        case act when 'replay' then '{"state": "dead"}' when 'retry' then '{"state": "parked"}' else '{}' end::jsonb
            || filter,
        options -> 'after', batch, 100000,
        case act when 'retry' then '{3}' when 'park' then '{1,2}' else '{1,2,3,4}' end::integer[],
        howdah._redaction_paths(v_destination.name, null, null)) f;
    v_ids := howdah._lock_found(v_destination.id, v_found.places, v_found.ranks, v_found.keys, v_found.ids,
        act = 'replay' and v_target is null);
    done := case
        when cardinality(v_ids) = 0 then 0
        when act = 'retry' then howdah.retry(queue, v_ids, reason)
        when act = 'replay' then howdah.replay(queue, v_ids, v_target, reason => act_on_matching.reason)
        when act = 'move' then howdah.move_messages(queue, v_ids, v_target, reason)
        when act = 'park' then howdah.park_messages(queue, v_ids, (options ->> 'until')::timestamptz,
            (options ->> 'delay')::interval, reason)
        else howdah.discard(queue, v_ids, reason) end;
    passed := v_found.found - done;
    looked := v_found.looked;
    complete := v_found.complete;
    cursor := v_found.cursor;
    return next;
end
$$;
