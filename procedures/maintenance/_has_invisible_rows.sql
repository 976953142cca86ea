-- howdah._has_invisible_rows(p_partition, p_archived): whether a partition of the journal has rows that are not visible
-- in a snapshot.
--
-- Returns  boolean.
-- Role     internal
--
-- It uses the BRIN index on xid, whatever statistics say, because it runs while the partition is locked.
create or replace function howdah._has_invisible_rows(p_partition regclass, p_archived pg_snapshot) returns boolean
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_found boolean;
begin
    execute format(
        'select exists (select from %s j where j.xid >= $1 and not pg_visible_in_snapshot(j.xid::text::xid8, $2))',
        p_partition)
    into v_found using pg_snapshot_xmin(p_archived)::text::bigint, p_archived;
    return v_found;
end
$$;
