-- howdah.move_all(queue, target, max_messages, reason, dry_run): move all messages of a queue to another queue: live,
-- parked and dead ones.
--
-- Returns  the number of messages moved (bigint); with dry_run, the number that would be, and nothing is moved.
-- Raises   HD001 no such queue; HD005 max_messages is negative, dry_run is NULL, or target is the queue itself or a
--          topic; HD010 not allowed.
-- Role     howdah_admin
--
-- It moves at most max_messages, the oldest first. Messages in somebody's hands stay. The messages remember where they
-- came from, as with howdah.move_messages. From a subscription, only messages set aside for it are moved. Parked
-- messages can be received at once in the target.
create or replace function howdah.move_all(
    queue text, target text, max_messages bigint default null, reason text default null, dry_run boolean default false
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off
as $$
declare
    v_source howdah.destinations := howdah._queue(queue, 'admin');
    v_target howdah.destinations := howdah._queue(target, 'admin');
begin
    perform howdah._check_apart(v_source, v_target);
    if max_messages < 0 then
        raise exception using errcode = 'HD005', message = format('max_messages %s is negative', max_messages);
    end if;
    perform howdah._refuse_null('dry_run', dry_run);
    if dry_run then
        return (select count(*) from howdah._takeable(v_source, null, max_messages));
    end if;
    return howdah._move(v_source, v_target, null, max_messages, reason);
end
$$;
