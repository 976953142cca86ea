-- howdah._trace_in_messages(p_id, p_trace, p_place, p_rank, p_key, p_bound): the messages of a destination whose header
-- traceparent names a trace.
--
-- Returns  those among the next p_bound messages after that place, and the last one looked at. hit: it names the trace;
--          number: how many were looked at up to it. Places and keys are those of howdah._found_sql.
-- Role     internal
--
-- It is one statement with a kept plan: a search for a trace goes through hundreds of queues.
create or replace function howdah._trace_in_messages(
    p_id integer, p_trace text, p_place integer, p_rank smallint, p_key bigint, p_bound bigint
) returns table (
    message_id bigint, state text, sent_at timestamptz, hit boolean, number bigint, place integer, rank smallint,
    key bigint
)
language plpgsql stable set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := howdah.now();
begin
    return query
    select f.message_id, howdah._message_state(f.leased, f.due_at, f.parked_reason, f.dead_at, f.expires_at, v_now),
        f.sent_at, f.hit, f.number, f.place, f.rank, f.key
    from (
        select c.*, coalesce(c.trace = p_trace, false) as hit, row_number() over w as number,
            lead(c.key) over w is null as last
        from (
            (select 1 as place, m.rank, m.seq as key, m.message_id, m.sent_at, m.dead_at, m.expires_at,
                substr(m.headers ->> 'traceparent', 4, 32) as trace, false as leased, null::timestamptz as due_at,
                null::text as parked_reason
            from howdah.msgs m
            where m.destination_id = p_id and p_place <= 1
              and (m.rank, m.seq) > (case p_place when 1 then p_rank else -1::smallint end,
                case p_place when 1 then p_key else -1 end)
            order by m.rank, m.seq limit p_bound)
            union all
            (select 2, m.rank, m.seq, m.message_id, m.sent_at, m.dead_at, m.expires_at,
                substr(m.headers ->> 'traceparent', 4, 32), false, null, null
            from howdah.msgs_nonpersistent m
            where m.destination_id = p_id and p_place <= 2 and m.boot = pg_postmaster_start_time()
              and (m.rank, m.seq) > (case p_place when 2 then p_rank else -1::smallint end,
                case p_place when 2 then p_key else -1 end)
            order by m.rank, m.seq limit p_bound)
            union all
            (select 3, 0::smallint, m.message_id, m.message_id, m.sent_at, m.dead_at, m.expires_at,
                substr(m.headers ->> 'traceparent', 4, 32), m.parked_reason = 'lease', m.due_at, m.parked_reason
            from howdah.parked m
            where m.destination_id = p_id and p_place <= 3
              and (m.boot is null or m.boot = pg_postmaster_start_time())
              and m.message_id > case p_place when 3 then p_key else -1 end
            order by m.message_id limit p_bound)
            union all
            (select 4, m.rank, m.seq, m.message_id, m.sent_at, m.dead_at, m.expires_at,
                substr(m.headers ->> 'traceparent', 4, 32), true, (select l.until from howdah.leases l
                    where l.lease_id = m.seq >> 20), 'lease'
            from howdah.leased m
            where m.destination_id = p_id
              and (m.rank, m.seq) > (case p_place when 4 then p_rank else -1::smallint end,
                case p_place when 4 then p_key else -1 end)
            order by m.rank, m.seq limit p_bound)
            order by place, rank, key limit p_bound
        ) c
        window w as (order by c.place, c.rank, c.key)
    ) f
    where f.hit or f.last
    order by f.number;
end
$$;
