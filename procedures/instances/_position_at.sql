-- howdah._position_at(p_name, p_resumes): where an instance begins to read the record of changes.
--
-- Returns  true if it begins at the end of the record, though it had a place in it or in another one (boolean).
-- Role     internal
--
-- With p_resumes, an instance goes on where it stood, if the record still has all that came since. Otherwise it begins
-- with what comes next, and the changes that it missed are counted. So it does after a restore into another cluster,
-- where its place lies ahead of all transactions.
create or replace function howdah._position_at(p_name text, p_resumes boolean) returns boolean
language plpgsql volatile
as $$
declare
    v_old howdah.instance_positions;
    v_engine howdah.engine;
    v_known boolean;
    v_missed bigint;
begin
    select e.* into v_engine from howdah.engine e;
    select p.* into v_old from howdah.instance_positions p where p.name = p_name for update;
    v_known := v_old.record_id = v_engine.record_id
        and pg_snapshot_xmax(v_old.read) <= pg_snapshot_xmax(pg_current_snapshot())
        and (pg_sequence_last_value('howdah.changes_dropped'::regclass)
            >= pg_snapshot_xmin(v_old.read)::text::bigint) is not true;
    if v_known and p_resumes then
        return false;
    end if;
    v_missed := case when v_known then howdah._changes_unread(v_old)
        when v_old.name is not null then (select count(*) from howdah.config_changes) else 0 end;
    insert into howdah.instance_positions as p (name, record_id, read, last_change, missed, read_at)
    values (p_name, v_engine.record_id, pg_current_snapshot(), v_old.last_change, v_missed, howdah.now())
    on conflict (name) do update set record_id = excluded.record_id, read = excluded.read, upto = null,
        missed = excluded.missed, read_at = excluded.read_at;
    return v_old.name is not null and (v_missed > 0 or not v_known);
end
$$;
