-- howdah.purge_queue(queue): discard every message of a queue that nobody is receiving at the moment.
--
-- Returns  the number of messages discarded (bigint).
-- Raises   HD001 no such queue; HD010 not allowed; HD024 it is a subscription that is being read, or messages of it are
--          leased; HD025 it is a subscription in a restored database (howdah.rebase_topics); HD045 the master of
--          changes is away.
-- Role     howdah_admin
--
-- Purging a subscription discards what was set aside for it, and all that it has not read of its topics.
-- The act is in howdah.list_acts, with the setting howdah.reason.
create or replace function howdah.purge_queue(queue text) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations := howdah._queue(queue, 'admin');
    v_discarded bigint;
    v_skipped bigint;
begin
    if v_destination.kind = 'subscription' then
        perform howdah._check_cluster();
        perform howdah._lock_subscription(v_destination);
    end if;
    v_discarded := howdah._empty_destination(v_destination, 'purged');
    if v_destination.kind = 'subscription' then
        v_skipped := (
            select coalesce(sum(howdah._skip_backlog(v_destination, s, a, 'purged')), 0)
            from howdah.subscriptions s join howdah.acks a on a.subscription_id = s.destination_id
            where s.destination_id = v_destination.id);
        if v_skipped > 0 then
            perform howdah._record_act('purged', v_destination.id, '{}', null,
                howdah._why(format('%s unread of its topics', v_skipped)));
        end if;
        v_discarded := v_discarded + v_skipped;
    end if;
    return v_discarded;
end
$$;
