-- howdah.cancel_delayed_range(queue, due_from, due_until): discard all messages sent with a delay that become due in a
-- range of time.
--
-- Returns  the number of messages discarded (bigint). The range includes its ends; NULL means open.
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_producer howdah_admin
--
-- It is for administrators of the queue, and does what ActiveMQ's REMOVEALL does with ACTION_START_TIME and
-- ACTION_END_TIME. For schedules, use howdah.cancel_schedules.
create or replace function howdah.cancel_delayed_range(
    queue text, due_from timestamptz default null, due_until timestamptz default null
)
returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp set enable_seqscan = off
    set jit = off
as $$
declare
    v_destination howdah.destinations := howdah._destination(queue, 'admin');
begin
    return howdah._discard_delayed(v_destination, array(
        select p.ctid from generate_series(0, 9) r(rank)
        join howdah.parked p on p.destination_id = v_destination.id and p.rank = r.rank and p.due_at > howdah.now()
            and (p.due_at < due_from) is not true and (p.due_at > due_until) is not true
        where p.parked_reason = 'delay' for update of p skip locked));
end
$$;
