-- howdah._are_over(p_positions, p_mark, p_ask): whether all transactions with ids lower than a mark's have ended.
--
-- Returns  boolean.
-- Role     internal
--
-- Ids are compared as the server does, modulo 2^32. p_ask: only the transactions that read or drew positions of the
-- queue need to have ended. The server's locks tell this in a millisecond or two: a sequence stays locked until the end
-- of a transaction that uses it.
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
