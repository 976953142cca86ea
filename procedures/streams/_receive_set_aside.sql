-- howdah._receive_set_aside(p_destination, p_wild, p_name, p_want, p_hold): receive messages that were set aside for a
-- subscription and are due again.
--
-- Returns  up to p_want rows of howdah.message: failed messages after their delay, replayed ones, and those back from
--          quarantine.
-- Role     internal
--
-- Such messages are few, and lie where a queue's messages lie. The call skips those that other transactions hold. It
-- also skips those of forbidden topics; p_wild, a wildcard subscription, may have some.
create or replace function howdah._receive_set_aside(
    p_destination howdah.destinations, p_wild boolean, p_name text, p_want integer, p_hold boolean
)
returns setof howdah.message
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_row record;
    v_failures integer;
    v_weight integer;
begin
    for v_row in
        select m as message, 'msgs' as place, false as nonpersistent, null::bigint as lease_id from howdah.msgs m
        where m.ctid = any (array(select c.ctid from howdah.msgs c where c.destination_id = p_destination.id
                                    and (not p_wild or howdah._may_read_copy(c.message_id, 'receive'))
                                  order by c.rank, c.seq limit p_want for update skip locked))
        union all
        select howdah._as_ready(n), 'msgs_nonpersistent', true, null from howdah.msgs_nonpersistent n
        where n.ctid = any (array(select c.ctid from howdah.msgs_nonpersistent c
            where c.destination_id = p_destination.id
                                    and c.boot = pg_postmaster_start_time()
                                    and (not p_wild or howdah._may_read_copy(c.message_id, 'receive'))
                                  order by c.rank, c.seq limit p_want for update skip locked))
        union all
        select howdah._as_ready(p), 'parked', p.boot is not null, p.lease_id from howdah.parked p
        -- One priority at a time, as the index has them: so no more is read and locked than is wanted.
        where p.ctid = any (array(select k.ctid from generate_series(0, 9) r(rank)
            cross join lateral (
                select c.ctid from howdah.parked c
                where c.destination_id = p_destination.id and c.rank = r.rank::smallint and c.due_at <= v_now
                  and (c.boot is null or c.boot = pg_postmaster_start_time())
                  and (not p_wild or howdah._may_read_copy(c.message_id, 'receive'))
                order by c.due_at, c.seq limit p_want for update skip locked) k
            limit p_want))
        limit p_want
    loop
        if v_row.lease_id is not null then
            perform howdah._record_lease_incident(p_destination.id, (v_row.message).message_id, (v_row.message).stage,
                (v_row.message).conversation_id, howdah._group((v_row.message).headers,
                    (v_row.message).conversation_id), v_row.lease_id);
        end if;
        select coalesce(max(f.failures), 0), coalesce(max(f.weight), 0) into v_failures, v_weight
        from howdah._count_failures(p_destination.id, array[(v_row.message).message_id], array[(v_row.message).stage],
            array[(v_row.message).conversation_id],
            array[howdah._group((v_row.message).headers, (v_row.message).conversation_id)]) f
        where f.stage = (v_row.message).stage;
        if (v_row.message).expires_at <= v_now or v_weight >= p_destination.dispose_at then
            perform howdah._dispose(p_destination.id, v_row.message, v_row.nonpersistent, v_row.place, v_now);
            continue;
        end if;
        return next howdah._message(v_row.message, p_name, v_row.nonpersistent, v_failures);
        if not p_hold then
            perform howdah._remove(v_row.message, v_row.place);
            perform howdah._journal(p_destination, 'consumed', array[(v_row.message).message_id], v_row.nonpersistent,
                null, null, (v_row.message).sent_at);
        end if;
    end loop;
end
$$;
