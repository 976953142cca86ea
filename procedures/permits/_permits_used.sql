-- howdah._permits_used(p_queue): how many permits of a queue's own limit of concurrency are in use.
--
-- Returns  in_hand: by transactions that have received and not yet ended; leased: by leases. NULL: there is no limit.
-- Role     internal
--
-- It writes and locks nothing, so that a read-only transaction may look. Numbers of foreign locks may be any.
create or replace function howdah._permits_used(
    p_queue howdah.destinations, out in_hand bigint, out leased bigint
) returns record
language plpgsql stable
    set enable_seqscan = off set jit = off
as $$
declare
    v_key uuid := howdah._permit_key(null);
    v_base bigint := howdah._permit_base(p_queue.id, v_key);
begin
    if p_queue.max_concurrent is null then
        return;
    end if;
    in_hand := (
        select count(*) from pg_locks l
        where l.locktype = 'advisory' and l.granted and l.objsubid = 1
          and l.database = (select b.oid from pg_database b where b.datname = current_database())
          and (l.classid::bigint << 32 | l.objid::bigint) between v_base + 1 and v_base + p_queue.max_concurrent);
    leased := (
        select count(distinct l.permit)
        from howdah.leased_permits l
        join howdah.parked p on p.destination_id = l.destination_id and p.message_id = l.message_id
        where l.destination_id = p_queue.id and l.key = v_key and p.parked_reason = 'lease'
          and p.due_at > howdah.now()
          and not exists (select from howdah.leased_permits n
                          where n.destination_id = p_queue.id and n.message_id = l.message_id and n.key = v_key
                            and n.id > l.id));
end
$$;
