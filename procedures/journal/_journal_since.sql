-- howdah._journal_since(p_since, p_until, p_id): the number of messages by destination and event that the journal
-- gained between two snapshots.
--
-- Returns  as howdah._journal_totals. p_since NULL means from the beginning, p_until NULL up to now, p_id NULL all
--          destinations.
-- Role     internal
--
-- It goes by snapshots and not by time or number, so that a transaction that commits late is counted once. The bound on
-- time only saves looking into the partitions of the year ahead.
create or replace function howdah._journal_since(p_since pg_snapshot, p_until pg_snapshot, p_id integer)
returns table (destination_id integer, event text, messages bigint)
language plpgsql stable
as $$
declare
    v_first bigint := coalesce(pg_snapshot_xmin(p_since)::text::bigint, 0);
    v_soon timestamptz := howdah.now() + interval '24 hours';
begin
    return query
    with fresh as materialized (
        select j.destination_id, j.other_destination_id, j.event,
            sum(case when j.last_id is null then cardinality(j.message_ids)
                else (j.last_id - j.message_ids[1]) / 1000000 + 1 end)::bigint as messages
        from howdah.journal j
        where j.at < v_soon and j.xid >= v_first and (p_id is null or j.destination_id = p_id
            or j.other_destination_id = p_id)
          and (p_since is null or not pg_visible_in_snapshot(j.xid::text::xid8, p_since))
          and (p_until is null or pg_visible_in_snapshot(j.xid::text::xid8, p_until))
        group by j.destination_id, j.other_destination_id, j.event
    )
    select f.destination_id, f.event, f.messages from fresh f
    union all
    select f.other_destination_id, f.event || '_in', f.messages from fresh f where f.other_destination_id is not null;
end
$$;
