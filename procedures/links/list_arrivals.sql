-- howdah.list_arrivals(): list the links that lead here from other engines.
--
-- Returns  one row per link, by engine and name. in_transit: messages that arrived and are not yet known to be consumed
--          at the sender. The next batch clears those of a batch that the sender committed. lost: non-persistent ones
--          of them that a restart of the sender took.
-- Raises   HD010 called from a maintenance command.
-- Role     howdah_admin howdah_browser howdah_auditor
--
-- A browser sees those of sources that it might browse here, by their names. The role that forwards sees its own.
create or replace function howdah.list_arrivals() returns table (
    engine text, link text, source text, arrived bigint, repeated bigint, in_transit bigint, arrived_at timestamptz,
    batch bigint, arrived_as text, link_id uuid, engine_id uuid, created_at timestamptz,
    lost bigint
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select a.engine_name, a.link_name, a.source_queue, a.arrived, a.repeated,
        (select coalesce(sum(cardinality(r.message_ids)), 0)::bigint from howdah.link_receipts r
            where r.arrival_id = a.arrival_id),
        a.arrived_at, a.batch, a.arrived_as, a.link_id, a.engine_id, a.created_at, a.lost
    from howdah.link_arrivals a
    where howdah._sees_all() or a.arrived_as = howdah._caller()
        or howdah._has_right_by_name(case when a.source_queue ~ '::' then 'topic' else 'queue' end,
            split_part(a.source_queue, '::', 1), 'browse')
    order by 1, 2, a.arrival_id
$$;
