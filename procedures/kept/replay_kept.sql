-- howdah.replay_kept(queue, message_ids, target, max_messages, kept_from, kept_before, reason, dry_run): send kept
-- messages of a queue again, to that queue or another one.
--
-- Returns  the number of messages sent (bigint); with dry_run, the number that would be, and nothing is sent.
-- Raises   HD001 no such queue, or target is a topic; HD005 max_messages is negative, message_ids and a time are
--          both given, dry_run is NULL, or target is a subscription; HD006 never, because the priority is the
--          original's; HD007 body too large; HD008 sending to the target is paused; HD010 not allowed; HD013 a
--          message is not kept there; HD017 the conversation was ended; HD018 the target is full; HD025 never,
--          because target is no topic; HD027 the engine is full; HD039 the level is above the target's highest;
--          HD040 the engine is paused, quiesced or stopped; HD045 the master of changes is away; HD049 never,
--          because target is no topic; HD050 a body does not keep to the contract (docs/contracts.md).
-- Role     howdah_admin
--
-- message_ids NULL means all, or those that were consumed at kept_from or later and before kept_before; at most
-- max_messages, the oldest first.
--
-- Each copy is a new message, with a new id and without failures. Its header howdah_replayed_from is the id of the
-- original, which stays as it is. Body, other headers, priority, level and the like are the original's. The copy lives
-- as long as the target's messages do by default. The act is in howdah.list_acts as resent.
create or replace function howdah.replay_kept(
    queue text, message_ids bigint[] default null, target text default null, max_messages bigint default null,
    kept_from timestamptz default null, kept_before timestamptz default null, reason text default null,
    dry_run boolean default false
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_source howdah.destinations := howdah._queue(queue, 'admin');
    v_target howdah.destinations := howdah._queue(coalesce(target, queue), 'admin');
    v_kept howdah.kept_messages;
    v_missing bigint;
    v_copy bigint;
    v_originals bigint[] := '{}';
    v_copies bigint[] := '{}';
    v_count bigint := 0;
begin
    if max_messages < 0 then
        raise exception using errcode = 'HD005', message = format('max_messages %s is negative', max_messages);
    elsif message_ids is not null and (kept_from is not null or kept_before is not null) then
        raise exception using errcode = 'HD005', message = 'message_ids and a time do not go together',
            hint = 'Give one of them.';
    elsif v_target.kind <> 'queue' then
        raise exception using errcode = 'HD005', message = format('%s is a subscription, not a queue',
            quote_literal(v_target.name)),
            hint = 'Kept messages are sent to a queue.';
    end if;
    select w.id into v_missing
    from unnest(message_ids) w(id)
    left join (select k.message_id from howdah._kept_rows(v_source.id, null, message_ids) k) r on r.message_id = w.id
    where r.message_id is null limit 1;
    if found then
        raise exception using errcode = 'HD013', message = format('queue %s keeps no message %s',
            quote_literal(queue), coalesce(v_missing::text, 'NULL')),
            hint = 'See howdah.browse_kept(queue).';
    end if;
    perform howdah._refuse_null('dry_run', dry_run);
    v_target.last_value_key := null;  -- what was consumed is older than what it would replace
    for v_kept in
        select r.* from howdah._kept_rows(v_source.id, max_messages, message_ids, kept_from, kept_before) r
    loop
        v_count := v_count + 1;
        continue when dry_run;
        v_copy := howdah._send_to(v_target, v_kept.body, v_kept.is_text, v_kept.content_type,
            case when v_target.stamp_user then howdah._stamped(v_kept.headers, howdah._caller())
                else coalesce(v_kept.headers, '{}') end
                || jsonb_build_object('howdah_replayed_from', v_kept.message_id),
            v_kept.priority, v_kept.correlation_id, v_kept.reply_to, v_kept.message_type, v_kept.conversation_id, null,
            null, howdah._level_name(v_kept.reliability, v_kept.nonpersistent), true, null, howdah._caller());
        v_originals := v_originals || v_kept.message_id;
        v_copies := v_copies || v_copy;
    end loop;
    perform howdah._record_act('resent', v_source.id, v_originals || array_remove(v_copies, null), v_target.id, reason);
    return v_count;
end
$$;
