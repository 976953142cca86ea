-- howdah.wait_many(queues, since): howdah.wait for many queues at once, and whether a receive can find anything there.
--
-- Returns  one row for each queue. payload and unsettled: as of howdah.wait, and asked its since. empty: true if
--          nothing was found to receive; false if a receive has to look.
-- Raises   HD001, HD002, HD004, HD005, HD010, HD027, HD045 as howdah.wait, for the first queue that has such an
--          error.
-- Role     howdah_consumer howdah_admin
--
-- One session asks for all consumers of a process. Pass a queue's last asked to the next call, or NULL. Receive from
-- time to time even so, at least every few seconds: a message may have come back far before the head.
create or replace function howdah.wait_many(queues text[], since bigint[] default null) returns table (
    queue text, payload text, asked bigint, unsettled boolean, empty boolean
)
language sql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select q.name, w.payload, w.since, w.unsettled, coalesce((
        -- As howdah.receive finds a usual queue: nothing lies behind its head, and nothing came back just before it.
        -- What came back further before is left to receives, which search step by step.
        select d.kind = 'queue' and pg_sequence_last_value(d.special) is null
            and coalesce(pg_sequence_last_value(d.head), 0) >= coalesce(pg_sequence_last_value(d.positions), 0)
            and not (howdah._is_due(pg_sequence_last_value(d.search), howdah._pace(clock_timestamp())) and exists (
                select from howdah.msgs m
                where m.destination_id = d.id and m.rank = d.main_rank
                  and m.seq > pg_sequence_last_value(d.head) - 2000 and m.seq <= pg_sequence_last_value(d.head)))
        from howdah.destinations d where d.name = q.name and d.dropped_at is null), false)
    from unnest(wait_many.queues, wait_many.since) q(name, since)
    cross join lateral howdah.wait(q.name, q.since) w
$$;
