-- howdah._journal_since(p_since, p_until): messages by destination and event that the journal gained between two snapshots.
--
-- Returns  as howdah._journal_totals. p_since NULL means from the beginning, p_until NULL up to now.
-- Role     internal
--
-- By snapshots and not by time or number, so that a transaction that commits late is counted, once. The bound on time
-- only spares the partitions of the year ahead.
create or replace function howdah._journal_since(p_since pg_snapshot, p_until pg_snapshot)
returns table (destination_id integer, event text, messages bigint)
language plpgsql stable
as $$
declare
    v_first bigint := coalesce(pg_snapshot_xmin(p_since)::text::bigint, 0);
    v_soon timestamptz := howdah.now() + interval '1 day';
begin
    return query
    with fresh as materialized (
        select j.destination_id, j.other_destination_id, j.event, sum(cardinality(j.message_ids))::bigint as messages
        from howdah.journal j
        where j.at < v_soon and j.xid >= v_first
          and (p_since is null or not pg_visible_in_snapshot(j.xid::text::xid8, p_since))
          and (p_until is null or pg_visible_in_snapshot(j.xid::text::xid8, p_until))
        group by j.destination_id, j.other_destination_id, j.event
    )
    select f.destination_id, f.event, f.messages from fresh f
    union all
    select f.other_destination_id, f.event || '_in', f.messages from fresh f where f.other_destination_id is not null;
end
$$;

-- howdah._journal_totals(): messages by destination and event: the totals kept and what the journal has beyond them.
--
-- Returns  destination_id, event (with moved_in and replayed_in at the receiving destination) and the number of messages.
-- Role     internal
create or replace function howdah._journal_totals() returns table (destination_id integer, event text, messages bigint)
language sql stable
as $$
    select t.destination_id, t.event, t.messages from howdah.journal_totals t
    union all
    select u.destination_id, u.event, u.messages
    from howdah.engine e cross join lateral howdah._journal_since(e.totals_snapshot, null) u
$$;
