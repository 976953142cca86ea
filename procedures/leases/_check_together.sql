-- howdah._check_together(p_queues, p_leases, p_length): refuse arrays that do not correspond.
--
-- Raises   HD005 the arrays differ in length, or are NULL.
-- Role     internal
create or replace function howdah._check_together(p_queues text[], p_leases bigint[], p_length integer) returns void
language plpgsql immutable
as $$
begin
    if cardinality(p_queues) is distinct from cardinality(p_leases) or cardinality(p_queues) is distinct from p_length
       or p_length is null then
        raise exception using errcode = 'HD005', message = 'the arrays are not of one length',
            hint = 'For each message, or each lease, give the queue that it was leased from.';
    end if;
end
$$;
