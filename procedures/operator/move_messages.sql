-- howdah.move_messages(queue, message_ids, target, reason, origin, error_class, fingerprint, older_than, newer_than,
-- selector, max_messages, dry_run): move messages to another queue, and remember where they came from.
--
-- Returns  the number of messages moved (bigint); with dry_run, the number that would be, and nothing is moved.
-- Raises   HD001 no such queue; HD005 neither message_ids nor a filter is given, or both are, max_messages is negative,
--          dry_run is NULL, or target is the queue itself or a topic; HD010 not allowed; HD013 a message is not in the
--          queue, or is in somebody's hands; HD023 the selector is invalid.
-- Role     howdah_admin
--
-- Either all named messages are moved, or none. With message_ids NULL, the filters of howdah.list_poison choose dead
-- messages: at most max_messages, the longest dead first. These leave out messages in somebody's hands.
--
-- Body, headers, id, times and incidents stay. origin_queue stays or becomes queue, so that howdah.replay sends the
-- messages back. Messages moved to their origin are as they were before they left it. Failures count from 0, and the
-- messages go to the end of the target.
create or replace function howdah.move_messages(
    queue text, message_ids bigint[] default null, target text default null, reason text default null,
    origin text default null, error_class text default null, fingerprint text default null,
    older_than timestamptz default null, newer_than timestamptz default null, selector text default null,
    max_messages bigint default null, dry_run boolean default false
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off
as $$
declare
    v_source howdah.destinations := howdah._queue(queue, 'admin');
    v_target howdah.destinations := howdah._queue(target, 'admin');
    v_chosen bigint[];
    v_count bigint;
begin
    perform howdah._check_apart(v_source, v_target);
    v_chosen := howdah._chosen_messages(v_source, message_ids, max_messages, origin, error_class, fingerprint,
        older_than, newer_than, selector);
    perform howdah._check_chosen(v_chosen);
    perform howdah._refuse_null('dry_run', dry_run);
    if dry_run then
        v_count := (select count(*) from howdah._takeable(v_source, v_chosen, max_messages));
    else
        v_count := howdah._move(v_source, v_target, v_chosen, max_messages, reason);
    end if;
    perform howdah._check_all_taken(v_source, message_ids, v_count, 'moved');
    return v_count;
end
$$;
