-- howdah._journal_since(p_since, p_until, p_id): messages by destination and event that the journal gained between two snapshots.
--
-- Returns  as howdah._journal_totals. p_since NULL means from the beginning, p_until NULL up to now, p_id NULL all destinations.
-- Role     internal
--
-- By snapshots and not by time or number, so that a transaction that commits late is counted, once. The bound on time
-- only spares the partitions of the year ahead.
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
            sum(case when j.last_id is null then cardinality(j.message_ids) else (j.last_id - j.message_ids[1]) / 1000000 + 1 end)::bigint as messages
        from howdah.journal j
        where j.at < v_soon and j.xid >= v_first and (p_id is null or j.destination_id = p_id or j.other_destination_id = p_id)
          and (p_since is null or not pg_visible_in_snapshot(j.xid::text::xid8, p_since))
          and (p_until is null or pg_visible_in_snapshot(j.xid::text::xid8, p_until))
        group by j.destination_id, j.other_destination_id, j.event
    )
    select f.destination_id, f.event, f.messages from fresh f
    union all
    select f.other_destination_id, f.event || '_in', f.messages from fresh f where f.other_destination_id is not null;
end
$$;

-- howdah._journal_totals(p_id, p_fresh): messages by destination and event: the totals kept and, with p_fresh, what the journal has beyond them.
--
-- Returns  destination_id, event (with moved_in and replayed_in at the receiving destination) and the number of messages.
-- Role     internal
create or replace function howdah._journal_totals(p_id integer, p_fresh boolean)
returns table (destination_id integer, event text, messages bigint)
language sql stable
as $$
    select t.destination_id, t.event, t.messages from howdah.journal_totals t where p_id is null or t.destination_id = p_id
    union all
    select u.destination_id, u.event, u.messages
    from howdah.engine e cross join lateral howdah._journal_since(e.totals_snapshot, null, p_id) u
    where p_fresh
$$;

-- howdah._totals_will_do(): whether the totals kept are young and the journal beyond them long, so that it need not be read.
--
-- Returns  boolean: kept within the last two minutes, and over 20,000 transactions since.
-- Role     internal
create or replace function howdah._totals_will_do() returns boolean
language sql stable
as $$
    select coalesce((
        select e.totals_at > howdah.now() - interval '2 minutes'
            and pg_snapshot_xmax(pg_current_snapshot())::text::bigint - pg_snapshot_xmax(e.totals_snapshot)::text::bigint > 20000
        from howdah.engine e), false)
$$;
