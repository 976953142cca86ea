-- howdah.list_metrics(): how much went through each queue, and through all of them, for rates from two calls.
--
-- Returns  a row for each queue, and one for all, whose queue_name is NULL. messages_in and messages_out: what came in
--          and went out so far. failed: failed deliveries; NULL for a single queue. there: what is in it now. exact:
--          false if a figure was counted in the background or estimated.
-- Raises   HD001 no such queue; HD010 not allowed; HD037 on a standby.
-- Role     howdah_admin howdah_browser howdah_consumer howdah_auditor
--
-- They are the figures of howdah.queue_stats, and only grow. failed also counts failures whose record was rolled back.
create or replace function howdah.list_metrics() returns table (
    queue_name text, messages_in bigint, messages_out bigint, failed bigint, there bigint, exact boolean
)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    with figures as materialized (select s.* from howdah.queue_stats() s)
    select null, coalesce(sum(f.enqueued), 0)::bigint, coalesce(sum(f.dequeued), 0)::bigint,
        coalesce(pg_sequence_last_value('howdah.poison_details_incident_id_seq'::regclass), 0),
        coalesce(sum(f.live + f.parked), 0)::bigint, coalesce(bool_and(f.exact), true)
    from figures f
    union all
    select f.queue_name, f.enqueued, f.dequeued, null, f.live + f.parked, f.exact from figures f
$$;
