-- howdah._tickets_out(p_id, p_last): at most how many messages other open transactions may have sent, by the locks of
-- their tickets.
--
-- Returns  bigint, in whole blocks, up to the ticket p_last.
-- Role     internal
create or replace function howdah._tickets_out(p_id integer, p_last bigint) returns bigint
language sql volatile
as $$
    select coalesce(sum(greatest(least(1::bigint << k.shift, p_last - (k.block << k.shift) + 1), 0)), 0)::bigint
    from (
        select distinct ((o.key >> 36) & 63)::integer as shift, o.key & 68719476735 as block
        from (select ((l.classid::bigint << 32) | l.objid::bigint) # k.mask as key
              from pg_locks l cross join (select howdah._ticket_mask(p_id) as mask offset 0) k
              where l.locktype = 'advisory' and l.objsubid = 1 and l.mode = 'ShareLock' and l.granted
                and l.pid is distinct from pg_backend_pid()
                and l.database = (select d.oid from pg_database d where d.datname = current_database())) o
        where o.key >> 42 = (1::bigint << 20) | p_id
    ) k
$$;
