-- howdah._expired_in_hand(p_ack, p_seqs): find messages that this transaction holds, and that others passed as expired.
--
-- Returns  transaction, position and mode of each that is not recorded as done.
-- Role     internal
--
-- A shared subscription holds each message by a lock. Only that lock shows that the caller received it: another session
-- that finds the message expired passes it without a lock.
create or replace function howdah._expired_in_hand(p_ack howdah.acks, p_seqs bigint[])
returns table (xid xid8, seq bigint, nonpersistent boolean)
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
declare
    v_secret constant bigint := howdah._lock_key('published', p_ack.id::text);
    v_now timestamptz := howdah.now();
    v_held bigint[] := array(
        select u.seq from unnest(p_seqs) u(seq)
        where exists (select from pg_locks l
                      where l.locktype = 'advisory' and l.pid = pg_backend_pid() and l.granted and l.objsubid = 1
                        and l.database = (select b.oid from pg_database b where b.datname = current_database())
                        and (l.classid::bigint << 32 | l.objid::bigint) = hashint8extended(u.seq, v_secret))
          and not exists (select from howdah.acked a where a.ack_id = p_ack.id and a.seq = u.seq));
begin
    if v_held = '{}' then
        return;
    end if;
    -- for N in 0, 1, 2:
    return query
    select t.xid, t.seq, false from howdah.topic_msgs_N t
    where t.destination_id = p_ack.destination_id and t.seq = any (v_held) and t.expires_at <= v_now
    union all
    select t.xid, t.seq, true from howdah.topic_nonpersistent_N t
    where t.destination_id = p_ack.destination_id and t.seq = any (v_held) and t.expires_at <= v_now
      and t.boot = pg_postmaster_start_time();
    -- end for
end
$$;
