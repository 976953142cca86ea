-- howdah._are_over(p_positions, p_mark, p_ask): whether all transactions have ended whose numbers are lower than that
-- of a mark.
--
-- Returns  boolean.
-- Role     internal
--
-- Numbers are compared as the server does, modulo 2^32. p_ask: it is enough that those of them have that read or drew
-- positions of the queue, as the server's locks tell in a millisecond or two: a sequence stays locked to the end of the
-- transaction that uses it.
create or replace function howdah._are_over(p_positions regclass, p_mark bigint, p_ask boolean) returns boolean
language plpgsql volatile
as $$
begin
    return (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - p_mark) & 4294967295 < 2147483648
        or p_ask and not exists (
            select from pg_locks r
            join pg_locks x on x.virtualtransaction = r.virtualtransaction and x.locktype = 'transactionid'
            and x.mode = 'ExclusiveLock'
            where r.locktype = 'relation' and r.relation = p_positions
              and r.database = (select d.oid from pg_database d where d.datname = current_database())
              and (x.transactionid::text::bigint - p_mark) & 4294967295 >= 2147483648);
end
$$;
