-- howdah.wait_many(queues, since): howdah.wait for many queues at once, and whether a receive can find anything there.
--
-- Returns  one row for each queue. payload and unsettled: as of howdah.wait, and asked its since. empty: true if a receive that began
--          now would find nothing; false if one has to look.
-- Raises   HD001, HD005, HD010 as howdah.wait, for the first queue that has such an error; HD045 the master of changes
--          is away.
-- Role     howdah_consumer howdah_admin
--
-- One session asks for all consumers of a process. Pass a queue's last asked to the next call, or NULL.
create or replace function howdah.wait_many(queues text[], since bigint[] default null) returns table (
    queue text, payload text, asked bigint, unsettled boolean, empty boolean
)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select q.name, w.payload, w.since, w.unsettled, coalesce((
        -- As howdah.receive finds a usual queue: nothing lies before its head, and no step of a search is due.
        select d.kind = 'queue' and pg_sequence_last_value(d.special) is null
            and coalesce(pg_sequence_last_value(d.head), 0) >= coalesce(pg_sequence_last_value(d.positions), 0)
            and not howdah._is_due(pg_sequence_last_value(d.search), howdah._pace(clock_timestamp()))
        from howdah.destinations d where d.name = q.name and d.dropped_at is null), false)
    from unnest(wait_many.queues, wait_many.since) q(name, since)
    cross join lateral howdah.wait(q.name, q.since) w
$$;
