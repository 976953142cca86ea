-- howdah._walk_rows(p_lane, p_walk, p_after, p_upto, p_due, p_limit, p_now): the next messages of a lane that selector
-- and consumer allow.
--
-- Returns  their keys as howdah._walk, positions, due times (of parked messages) and groups; nothing is locked.
-- Role     internal
--
-- The condition is executed as text. howdah._compile_selector made it, with names and strings as literals.
create or replace function howdah._walk_rows(
    p_lane howdah.lanes, p_walk howdah.walk, p_after bigint, p_upto bigint, p_due timestamptz, p_limit integer,
    p_now timestamptz
) returns table (key bigint, seq bigint, due_at timestamptz, group_id text, group_seq integer)
language plpgsql volatile
as $$
begin
    if p_lane.place = 2 and p_walk.condition is null and p_walk.share is null then
        return query
        select m.seq, m.seq, null::timestamptz, howdah._group(m.headers, m.conversation_id),
            howdah._group_seq(m.headers)
        from howdah.msgs m
        where m.destination_id = p_lane.destination_id and m.rank = p_lane.rank and m.seq > p_after
          and m.seq <= coalesce(p_upto, 9223372036854775807)
        order by m.seq limit p_limit;
        return;
    end if;
    return query execute format(
        'select %s, m.seq, %s, howdah._group(m.headers, m.conversation_id), howdah._group_seq(m.headers)
        from (select r.*, %s as nonpersistent from howdah.%I r where r.destination_id = $1 and r.rank = $2 and %s) m
        where (%s) is true and (%s) is true order by %s limit $6',
        case when p_lane.place = 0 then 'm.message_id' else 'm.seq' end,
        case when p_lane.place = 0 then 'm.due_at' else 'null::timestamptz' end,
        (array['r.boot is not null', 'true', 'false'])[p_lane.place + 1],
        (array['parked', 'msgs_nonpersistent', 'msgs'])[p_lane.place + 1],
        (array[
            'r.due_at <= $7 and (r.due_at, r.seq) > ($5, $3) and (r.boot is null or r.boot = '
            'pg_postmaster_start_time())',
            'r.seq > $3 and r.boot = pg_postmaster_start_time()',
            'r.seq > $3 and r.seq <= coalesce($4, 9223372036854775807)'])[p_lane.place + 1],
        coalesce(p_walk.condition, 'true'), coalesce(p_walk.share, 'true'),
        case when p_lane.place = 0 then 'm.due_at, m.seq' else 'm.seq' end)
    using p_lane.destination_id, p_lane.rank, p_after, p_upto, p_due, p_limit, p_now;
end
$$;
