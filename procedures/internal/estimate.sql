-- howdah._parts(p_first, p_length, p_parts, p_width): a stretch of numbers in so many parts, and of each part the beginning.
--
-- Returns  the first number, the one after the last of at most p_width, and how many times as long the part is.
-- Role     internal
create or replace function howdah._parts(p_first bigint, p_length bigint, p_parts bigint, p_width bigint)
returns table (first bigint, after bigint, weight double precision)
language sql immutable
as $$
    select b.first, b.first + least(b.length, p_width), b.length::double precision / least(b.length, p_width)
    from (
        select p_first + p_length / p_parts * g.n + least(g.n, p_length % p_parts) as first,
            p_length / p_parts + (g.n < p_length % p_parts)::integer as length
        from generate_series(0, p_parts - 1) g(n)
    ) b
    where b.length > 0
$$;

-- howdah._estimate(p_destination_id): the messages lying in a destination, estimated from samples.
--
-- Returns  by origin_id: live, parked, and when the first live one of each priority was sent; a sum over the rows is of all.
-- Role     internal
--
-- Looks at fifty stretches of twenty positions each, evenly spread between the first and the last, and multiplies: some 1 ms, however
-- many there are. Up to 1,000 positions that is a count. Leased ones are counted, for their positions have great gaps.
create or replace function howdah._estimate(p_destination_id integer)
returns table (origin_id integer, live bigint, parked bigint, oldest_sent_at timestamptz)
language plpgsql stable set plan_cache_mode = force_generic_plan
as $$
begin
    return query
    with rank as (
        select g.n::smallint as rank from generate_series(0, 9) g(n)
    ), ready as (
        select false as nonpersistent, r.rank, f.seq as first, f.sent_at, l.seq + 1 - f.seq as length
        from rank r
        cross join lateral (select m.seq, m.sent_at from howdah.msgs m
                            where m.destination_id = p_destination_id and m.rank = r.rank order by m.seq limit 1) f
        cross join lateral (select m.seq from howdah.msgs m
                            where m.destination_id = p_destination_id and m.rank = r.rank order by m.seq desc limit 1) l
        union all
        select true, r.rank, f.seq, f.sent_at, l.seq + 1 - f.seq
        from rank r
        cross join lateral (select n.seq, n.sent_at from howdah.msgs_nonpersistent n
                            where n.destination_id = p_destination_id and n.rank = r.rank and n.boot = pg_postmaster_start_time()
                            order by n.seq limit 1) f
        cross join lateral (select n.seq from howdah.msgs_nonpersistent n
                            where n.destination_id = p_destination_id and n.rank = r.rank order by n.seq desc limit 1) l
    ), lane as materialized (
        select r.*, 50 / count(*) over () as parts from ready r
    ), waiting as (
        select f.message_id as first, l.message_id + 1 - f.message_id as length
        from (select p.message_id from howdah.parked p where p.destination_id = p_destination_id order by p.message_id limit 1) f,
            (select p.message_id from howdah.parked p where p.destination_id = p_destination_id order by p.message_id desc limit 1) l
    ), sample as (
        select s.origin_id, p.weight as live, 0 as parked
        from lane l cross join lateral howdah._parts(l.first, l.length, l.parts, 20) p
        cross join lateral (
            select m.origin_id from howdah.msgs m
            where m.destination_id = p_destination_id and m.rank = l.rank and m.seq >= p.first and m.seq < p.after and not l.nonpersistent
            union all
            select n.origin_id from howdah.msgs_nonpersistent n
            where n.destination_id = p_destination_id and n.rank = l.rank and n.seq >= p.first and n.seq < p.after and l.nonpersistent
              and n.boot = pg_postmaster_start_time()
        ) s
        union all
        select s.origin_id, 0, p.weight
        from waiting w cross join lateral howdah._parts(w.first, w.length, 50, 20 * 1000000) p
        cross join lateral (
            select k.origin_id, k.boot from howdah.parked k
            where k.destination_id = p_destination_id and k.message_id >= p.first and k.message_id < p.after
            order by k.message_id limit 10000  -- which keeps the planner from joining the other way round
        ) s
        where s.boot is null or s.boot = pg_postmaster_start_time()
        union all
        select d.origin_id, 0, 1 from howdah.leased d where d.destination_id = p_destination_id
    )
    select s.origin_id, round(sum(s.live))::bigint, round(sum(s.parked))::bigint, null::timestamptz from sample s group by s.origin_id
    union all
    select null, 0, 0, min(l.sent_at) from lane l;
end
$$;
