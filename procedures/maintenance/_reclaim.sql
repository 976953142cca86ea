-- howdah._reclaim(p_place, p_from, p_until, p_now, p_limit): dispose of the expired messages in some blocks of a table.
--
-- Returns  how many (bigint), at most p_limit. p_place: 0 msgs, 1 msgs_nonpersistent, 2 parked.
-- Role     internal
create or replace function howdah._reclaim(
    p_place integer, p_from tid, p_until tid, p_now timestamptz, p_limit bigint
) returns bigint
language plpgsql volatile
as $$
declare
    v_gone record;
    v_count bigint := 0;
begin
    for v_gone in
        with ready as (
            delete from howdah.msgs m where p_place = 0 and m.ctid = any (array(
                select c.ctid from howdah.msgs c
                where c.ctid >= p_from and c.ctid < p_until and c.expires_at <= p_now and c.destination_id > 0
                limit p_limit for update skip locked))
            returning m
        ), nonpersistent as (
            delete from howdah.msgs_nonpersistent n where p_place = 1 and n.ctid = any (array(
                select c.ctid from howdah.msgs_nonpersistent c
                where c.ctid >= p_from and c.ctid < p_until and c.expires_at <= p_now
                  and c.boot = pg_postmaster_start_time()
                limit p_limit for update skip locked))
            returning n
        ), parked as (
            delete from howdah.parked p where p_place = 2 and p.ctid = any (array(
                select c.ctid from howdah.parked c
                where c.ctid >= p_from and c.ctid < p_until and c.expires_at <= p_now
                  and (c.parked_reason <> 'lease' or c.due_at <= p_now)
                  and (c.boot is null or c.boot = pg_postmaster_start_time())
                limit p_limit for update skip locked))
            returning p
        ), gone as (
            select r.m as message, false as nonpersistent from ready r
            union all select howdah._as_ready(n.n), true from nonpersistent n
            union all select howdah._as_ready(p.p), (p.p).boot is not null from parked p
        )
        select d as destination, g.nonpersistent, array_agg((g.message).message_id
            order by (g.message).message_id) as ids,
            case when d.process_expired or d.keep_results_ms is not null then array_agg(g.message) end as messages
        from gone g join howdah.destinations d on d.id = (g.message).destination_id
        group by d, d.id, d.process_expired, g.nonpersistent
    loop
        if v_gone.messages is null then
            perform howdah._journal(v_gone.destination, 'expired', v_gone.ids, v_gone.nonpersistent);
        else
            perform howdah._expire(v_gone.destination, m, v_gone.nonpersistent) from unnest(v_gone.messages) m;
        end if;
        v_count := v_count + cardinality(v_gone.ids);
    end loop;
    return v_count;
end
$$;
