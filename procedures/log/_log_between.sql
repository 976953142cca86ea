-- howdah._log_between(p_since, p_until): what was committed between two snapshots: events, and changes of the
-- configuration, if the engine's log_level selects those.
--
-- Returns  logged (the event), and source, which tells the numbers of both apart.
-- Role     internal
create or replace function howdah._log_between(p_since pg_snapshot, p_until pg_snapshot)
returns table (logged howdah.log_events, source integer)
language sql stable
as $$
    select e, 0 from howdah.log_events e
    where e.transaction >= pg_snapshot_xmin(p_since)::text::bigint
      and not pg_visible_in_snapshot(e.transaction::text::xid8, p_since)
      and pg_visible_in_snapshot(e.transaction::text::xid8, p_until)
    union all
    select howdah._log_change(c), 1 from howdah.config_changes c
    where c.transaction >= pg_snapshot_xmin(p_since)::text::bigint
      and not pg_visible_in_snapshot(c.transaction::text::xid8, p_since)
      and pg_visible_in_snapshot(c.transaction::text::xid8, p_until)
      and exists (select from howdah.engine g where g.log_level = 'INFO')
$$;
