-- howdah._browse_selected(p_destination, p_selector_sql, p_rank, p_seq, p_now, p_max): a page of ready messages that a
-- compiled selector selects.
--
-- Returns  setof howdah.message, by priority and position, after the given rank and position.
-- Role     internal
create or replace function howdah._browse_selected(
    p_destination howdah.destinations, p_selector_sql text, p_rank smallint, p_seq bigint, p_now timestamptz,
    p_max integer
) returns setof howdah.message
language plpgsql volatile set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set enable_sort = off set jit = off
as $$
begin
    return query execute format($sql$
        select shown.* from (
            (select m.message, false as nonpersistent, 0 as lapsed
                from (select s as message, s.*, false as nonpersistent from howdah.msgs s) m
             where m.destination_id = $1 and (m.rank, m.seq) > ($2, $3) and (m.expires_at is null or m.expires_at > $4)
               and (%1$s)
             order by m.rank, m.seq limit $5)
            union all
            (select howdah._as_ready(m.message), true, 0
                from (select s as message, s.*, true as nonpersistent from howdah.msgs_nonpersistent s) m
             where m.destination_id = $1 and (m.rank, m.seq) > ($2, $3) and m.boot = pg_postmaster_start_time()
               and (m.expires_at is null or m.expires_at > $4) and (%1$s)
             order by m.rank, m.seq limit $5)
            union all
            (select howdah._as_ready(m.message), m.nonpersistent, num_nonnulls(m.lease_id)
                from (select s as message, s.*, s.boot is not null as nonpersistent from howdah.parked s) m
                join generate_series(0, 9) r(rank) on r.rank = m.rank
             where m.destination_id = $1 and m.due_at <= $4 and (m.rank, m.seq) > ($2, $3)
               and (m.boot is null or m.boot = pg_postmaster_start_time())
               and (m.expires_at is null or m.expires_at > $4) and (%1$s)
             order by m.rank, m.seq limit $5)
            union all
            (select m.message, false, 1
                from (select u as message, u.*, false as nonpersistent
                      from howdah.leases l cross join lateral howdah._in_lease(l.destination_id, l.lease_id) o
                      cross join lateral howdah._unleased(o) u
                      where l.destination_id = $1 and l.until <= $4) m
             where (m.rank, m.seq) > ($2, $3) and (m.expires_at is null or m.expires_at > $4) and (%1$s)
             order by m.rank, m.seq limit $5)
        ) b
        cross join lateral howdah._message(b.message, $6, b.nonpersistent,
            b.lapsed + howdah._failures($1, (b.message).message_id, (b.message).stage, (b.message).conversation_id,
                howdah._group((b.message).headers, (b.message).conversation_id))) shown
        order by (b.message).rank, (b.message).seq
        limit $5 $sql$, p_selector_sql)
    using p_destination.id, p_rank, p_seq, p_now, p_max, p_destination.name;
end
$$;
