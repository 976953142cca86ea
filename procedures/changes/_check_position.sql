-- howdah._check_position(p_record_id, p_read): refuse a position in the record of changes from which not all can be
-- read.
--
-- Raises   HD036 retention has dropped changes after it; HD037 it is a position in another record.
-- Role     internal
create or replace function howdah._check_position(p_record_id uuid, p_read pg_snapshot) returns void
language plpgsql stable
as $$
declare
    v_engine howdah.engine;
begin
    select e.* into v_engine from howdah.engine e;
    if v_engine.record_id <> p_record_id then
        raise exception using errcode = 'HD037', message = 'the position belongs to another record of changes',
            hint = 'The record was restored or reset. Read it from its beginning: after => NULL.';
    elsif pg_sequence_last_value('howdah.changes_dropped'::regclass) >= pg_snapshot_xmin(p_read)::text::bigint then
        raise exception using errcode = 'HD036', message = 'retention has dropped changes after that position',
            hint = 'Read what there is: after => NULL. engine.journal_retention_days says how long changes are kept.';
    end if;
end
$$;
