-- howdah._same_ring(p_truncations): refuse to read topic tables if one was emptied since the reading statement's
-- snapshot.
--
-- Returns  true. p_truncations is the number of truncations that the statement sees.
-- Raises   40001 the caller must retry the transaction.
-- Role     internal
--
-- TRUNCATE is not MVCC: messages carried on to another table would be seen in neither. The calling statement has locked
-- the tables already, so none can be emptied afterwards. STABLE makes the statement call it once, whether it finds rows
-- or not.
create or replace function howdah._same_ring(p_truncations bigint) returns boolean
language plpgsql stable
as $$
begin
    if p_truncations <> coalesce(pg_sequence_last_value('howdah.topic_truncations'::regclass), 0) then
        raise exception using errcode = '40001', message = 'topic messages were moved while they were being read',
            hint = 'Retry the transaction.';
    end if;
    return true;
end
$$;
