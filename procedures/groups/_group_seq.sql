-- howdah._group_seq(p_headers): what the header JMSXGroupSeq asks for.
--
-- Returns  1: the group begins anew; -1: a negative number closes the group; 0: neither, or no number.
-- Role     internal
create or replace function howdah._group_seq(p_headers jsonb) returns integer
language sql immutable
as $$
    select case when jsonb_typeof(p_headers -> 'JMSXGroupSeq') = 'number'
        then case when (p_headers -> 'JMSXGroupSeq')::numeric < 0 then -1
            when (p_headers -> 'JMSXGroupSeq')::numeric = 1 then 1 else 0 end
        else 0 end
$$;
