-- howdah.discard(queue, message_ids, reason, origin, error_class, fingerprint, older_than, newer_than, selector,
-- max_messages, dry_run): discard messages for good.
--
-- Returns  the number of messages discarded (bigint); with dry_run, the number that would be, and nothing is discarded.
-- Raises   HD001 no such queue; HD005 neither message_ids nor a filter is given, or both are, max_messages is
--          negative, or dry_run is NULL; HD010 not allowed; HD013 a message is not in the queue, or is in somebody's
--          hands; HD023 the selector is invalid.
-- Role     howdah_admin
--
-- Either all named messages are discarded, or none. With message_ids NULL, the filters of howdah.list_poison choose
-- dead messages: at most max_messages, the longest dead first. These leave out messages in somebody's hands.
create or replace function howdah.discard(
    queue text, message_ids bigint[] default null, reason text default null, origin text default null,
    error_class text default null, fingerprint text default null, older_than timestamptz default null,
    newer_than timestamptz default null, selector text default null, max_messages bigint default null,
    dry_run boolean default false
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah,
    pg_temp set plan_cache_mode = force_custom_plan
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'admin');
    v_chosen bigint[] := howdah._chosen_messages(v_destination, message_ids, max_messages, origin, error_class,
        fingerprint, older_than, newer_than, selector);
    v_ids bigint[];
    v_nonpersistent bigint[];
    v_count bigint;
begin
    perform howdah._check_chosen(v_chosen);
    perform howdah._refuse_null('dry_run', dry_run);
    if dry_run then
        v_count := (select count(*) from howdah._takeable(v_destination, v_chosen, max_messages));
    else
        select array_agg((t.message).message_id) filter (where not t.nonpersistent),
            array_agg((t.message).message_id) filter (where t.nonpersistent), count(*)
        into v_ids, v_nonpersistent, v_count
        from howdah._take_back(v_destination, v_chosen, max_messages) t;
        perform howdah._journal(v_destination, 'discarded', v_ids, false, null, reason);
        perform howdah._journal(v_destination, 'discarded', v_nonpersistent, true, null, reason);
        perform howdah._record_act('discarded', v_destination.id, v_ids || v_nonpersistent, null, reason);
    end if;
    perform howdah._check_all_taken(v_destination, message_ids, v_count, 'discarded');
    return v_count;
end
$$;
