-- howdah._dequeued(): what has left each destination since the totals for monitoring began, up to this moment.
--
-- Returns  destination_id and the number of messages.
-- Role     internal
create or replace function howdah._dequeued() returns table (destination_id integer, messages bigint)
language sql stable
as $$
    select g.destination_id, sum(g.messages)::bigint
    from (
        select t.destination_id, t.total as messages from howdah.metric_totals t where t.metric = 'dequeued'
        union all
        select j.destination_id, case when j.last_id is null then cardinality(j.message_ids)
            else (j.last_id - j.message_ids[1]) / 1000000 + 1 end
        from howdah.metric_epoch e
        join howdah.journal j on j.at >= e.since and j.at < howdah.now() + interval '24 hours' and j.event <> 'sent'
            and j.xid >= coalesce(pg_snapshot_xmin(e.snapshot)::text::bigint, 0)
            and pg_visible_in_snapshot(j.xid::text::xid8, pg_current_snapshot())
            and (e.snapshot is null or not pg_visible_in_snapshot(j.xid::text::xid8, e.snapshot))
    ) g
    group by g.destination_id
$$;
