-- howdah._greatest_xid(p_partition, p_above): the greatest transaction id with rows in a partition of the journal, if
-- it is above a number.
--
-- Returns  bigint; NULL if there is none.
-- Role     internal
--
-- For the whole partition this takes a scan, which is made before the partition is locked. For what was committed since
-- then, the index answers.
create or replace function howdah._greatest_xid(p_partition regclass, p_above bigint) returns bigint
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_greatest bigint;
begin
    execute format('select max(j.xid) from %s j where j.xid > $1', p_partition) into v_greatest using coalesce(p_above,
        0);
    return v_greatest;
end
$$;
