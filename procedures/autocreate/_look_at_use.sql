-- howdah._look_at_use(p_limit): note which of the destinations that created themselves were used since the last look.
--
-- Returns  the numbers (integer[]) of those that were not used for the option autocreate_reap_seconds, or not since the
--          server's start.
-- Role     internal
--
-- Sends draw positions, and receives note when they searched. Two sequences show both, and cost the user nothing.
-- Reading one locks it until the transaction ends. So a call looks at p_limit destinations, first at those whose turn
-- is due.
create or replace function howdah._look_at_use(p_limit integer) returns integer[]
language sql volatile
as $$
    with chosen as (
        select a.destination_id as id, a.seen, a.seen_at, a.boot,
            array[pg_sequence_last_value(d.positions), pg_sequence_last_value(d.search)] as found
        from (select t.* from howdah.auto_destinations t join howdah.destinations l on l.id = t.destination_id
              where l.dropped_at is null and (t.looked_at > howdah.now() - interval '9 seconds') is not true
              order by t.looked_at nulls first limit p_limit) a
        join howdah.destinations d on d.id = a.destination_id
    ), noted as (
        update howdah.auto_destinations a
        set looked_at = howdah.now(), seen = c.found, boot = pg_postmaster_start_time(),
            seen_at = case when c.seen = c.found and c.boot = pg_postmaster_start_time() then c.seen_at
                else howdah.now() end
        from chosen c where a.destination_id = c.id
        returning a.destination_id, a.seen_at, c.boot
    )
    select coalesce(array_agg(n.destination_id), '{}')
    from noted n cross join howdah.engine e
    where n.seen_at <= howdah.now() - e.autocreate_reap_seconds * interval '1 second'
       or n.boot <> pg_postmaster_start_time()
$$;
