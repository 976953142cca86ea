-- howdah._changes_since(p_read, p_upto, p_change, p_max): the changes after a position, in the order of commits.
--
-- Returns  at most p_max rows: change_id, and the position after it (in_read, in_upto, and the change_id).
-- Role     internal
--
-- A position has three parts. The reader has read all that is visible in the snapshot p_read, and, of what is visible
-- in p_upto, all up to p_change. The number alone is not enough, because a transaction that drew an earlier one may
-- commit later. What is new from one snapshot to the next is read in the order of numbers. Whoever saw another's change
-- drew a later number.
create or replace function howdah._changes_since(
    p_read pg_snapshot, p_upto pg_snapshot, p_change bigint, p_max integer
) returns table (change_id bigint, in_read pg_snapshot, in_upto pg_snapshot)
language sql stable
as $$
    select f.change_id, f.in_read, f.in_upto
    from (
        select c.change_id, 1 as batch, p_read as in_read, p_upto as in_upto
        from howdah.config_changes c
        where c.transaction >= pg_snapshot_xmin(p_read)::text::bigint and c.change_id > p_change
          and not pg_visible_in_snapshot(c.transaction::text::xid8, p_read)
          and pg_visible_in_snapshot(c.transaction::text::xid8, p_upto)
        union all
        select c.change_id, 2, p_upto, pg_current_snapshot()
        from howdah.config_changes c
        where c.transaction >= pg_snapshot_xmin(p_upto)::text::bigint
          and not pg_visible_in_snapshot(c.transaction::text::xid8, p_upto)
          and pg_visible_in_snapshot(c.transaction::text::xid8, pg_current_snapshot())
    ) f
    order by f.batch, f.change_id
    limit p_max
$$;
