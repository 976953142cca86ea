-- howdah._changes_unread(p_position): how many changes an instance has not read.
--
-- Returns  bigint; all, if it stands in another record.
-- Role     internal
create or replace function howdah._changes_unread(p_position howdah.instance_positions) returns bigint
language sql stable
as $$
    select count(*) from howdah.config_changes c cross join howdah.engine e
    where p_position.record_id is distinct from e.record_id
       or c.transaction >= pg_snapshot_xmin(p_position.read)::text::bigint
      and not pg_visible_in_snapshot(c.transaction::text::xid8, p_position.read)
      and not (p_position.upto is not null and c.change_id <= p_position.last_change
          and pg_visible_in_snapshot(c.transaction::text::xid8, p_position.upto))
$$;
