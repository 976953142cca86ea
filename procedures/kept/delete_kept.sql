-- howdah.delete_kept(queue, message_ids, kept_before, reason): delete kept messages of a queue before their time.
--
-- Returns  the number of messages deleted (bigint). message_ids NULL means all, or those that were consumed before
--          kept_before. Ids of messages that are not kept are passed over.
-- Raises   HD001 no such queue; HD005 message_ids and kept_before are both given; HD010 not allowed.
-- Role     howdah_admin
--
-- The act is in howdah.list_acts as purged, with the number of messages.
create or replace function howdah.delete_kept(
    queue text, message_ids bigint[] default null, kept_before timestamptz default null, reason text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'admin');
    v_count bigint;
begin
    if message_ids is not null and kept_before is not null then
        raise exception using errcode = 'HD005', message = 'message_ids and kept_before do not go together',
            hint = 'Give one of them.';
    end if;
    delete from howdah.kept_messages k
    where k.destination_id = v_destination.id and (message_ids is null or k.message_id = any (message_ids))
      and (kept_before is null or k.kept_at < kept_before);
    get diagnostics v_count = row_count;
    if v_count > 0 then
        perform howdah._record_act('purged', v_destination.id, '{}', null,
            concat_ws(': ', format('%s kept messages', v_count), nullif(reason, '')));
    end if;
    return v_count;
end
$$;
