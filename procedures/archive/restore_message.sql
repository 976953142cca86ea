-- howdah.restore_message(queue, archive, run, message_id, body, is_text, properties, again): send a message of the
-- archive again.
--
-- Returns  the id of the new message (bigint). Its headers howdah_restored_from and howdah_archive_run give the
--          original's id and where it came from.
-- Raises   HD001 no such queue; HD005 no such run, the original still exists, or it was restored before and again is
--          false; HD006 bad priority; HD007 body too large; HD008 sending is paused; HD010 not allowed; HD017 the
--          conversation was ended; HD018 the queue is full; HD025 a restored database (howdah.rebase_topics); HD027 the
--          engine is full; HD039 the level is above the queue's highest; HD040 the engine is paused, quiesced or
--          stopped; HD045 the master of changes is away; HD049 a bridge with a transformation needs READ COMMITTED
--          (docs/transformations.md); HD050 a body does not keep to the contract (docs/contracts.md).
-- Role     howdah_admin
--
-- properties is a JSON object: content_type, headers, priority, correlation_id, reply_to, message_type,
-- conversation_id, reliability. It is a new send in the name of the caller, who needs the right to send there. The
-- message expires and counts failures like any other. It does not go with the caller's connection, where the queue's
-- option discard_with_sender is set.
create or replace function howdah.restore_message(
    queue text, archive uuid, run integer, message_id bigint, body bytea, is_text boolean,
    properties jsonb default '{}', again boolean default false
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'send');
    v_where text;
    v_restored bigint;
    v_priority integer;
    v_conversation uuid;
begin
    if message_id is null or body is null or is_text is null or jsonb_typeof(properties) is distinct from 'object' then
        raise exception using errcode = 'HD005',
            message = 'message_id, body and is_text must be there and properties a JSON object',
            hint = 'howdah archive restore reads them from the archive.';
    end if;
    begin
        v_priority := properties ->> 'priority';
        v_conversation := properties ->> 'conversation_id';
        if jsonb_typeof(properties -> 'headers') not in ('object', 'null') then
            raise data_exception;
        end if;
        perform convert_from(body, 'UTF8') where is_text;
    exception when data_exception then
        raise exception using errcode = 'HD005', message = 'the properties or the body are not those of a message',
            hint =
                'headers is a JSON object, priority a number, conversation_id a UUID, '
                'and a body that is_text is UTF-8.';
    end;
    -- Lock the run, so that the second of two concurrent calls sees what the first restored.
    perform from howdah.archive_runs r where r.archive_id = archive and r.run = restore_message.run for no key update;
    if not found then
        raise exception using errcode = 'HD005', message = format('archive %s has no finished run %s', archive, run),
            hint = 'See howdah.list_archive_runs().';
    end if;
    select m.queue into v_where from howdah.audit_messages m where m.message_id = restore_message.message_id limit 1;
    if found then
        raise exception using errcode = 'HD005', message = format('message %s is still there, in %s', message_id,
            quote_literal(v_where)),
            hint = 'Replay or move it: howdah poison replay, howdah poison move.';
    end if;
    select r.restored_id into v_restored from howdah.archive_restores r where r.message_id = restore_message.message_id
    order by r.restored_at desc, r.restored_id desc limit 1;
    if found and again is not true then
        raise exception using errcode = 'HD005', message = format('message %s was restored before, as %s', message_id,
            v_restored),
            hint = 'Pass again as true to send it once more.';
    end if;
    v_destination.last_value_key := null;  -- what was archived is older than what it would replace
    v_restored := howdah._send_to(v_destination, body, is_text,
        coalesce(properties ->> 'content_type', 'application/octet-stream'),
        coalesce(nullif(properties -> 'headers', 'null'), '{}')
            || jsonb_build_object('howdah_restored_from', message_id, 'howdah_archive_run',
                format('%s/%s', archive, run)),
        v_priority, properties ->> 'correlation_id', properties ->> 'reply_to', properties ->> 'message_type',
        v_conversation, null, null, properties ->> 'reliability', true, null,
        howdah._caller());
    insert into howdah.archive_restores (restored_id, message_id, archive_id, run, queue, restored_at, restored_by)
    values (v_restored, message_id, archive, run, queue, howdah.now(), howdah._caller())
    on conflict on constraint pk_archive_restores do nothing;
    return v_restored;
end
$$;
