-- howdah.queue_times(queue): how long a queue's messages waited, and how long their handlers took.
--
-- Returns  a row for wait (from send to receive) and one for handler (calls of handlers), if there were any. calls:
--          messages received, or calls. mean: their mean. half, nine_tenths and ninety_nine_hundredths: so many took no
--          longer than this, by the bounds of howdah.metrics; NULL: longer than the last bound. since: when the count
--          began; counted_at: when maintenance last added to it.
-- Raises   HD001 no such queue; HD010 not allowed.
-- Role     howdah_admin howdah_browser howdah_consumer howdah_auditor
--
-- Messages received together all count with the wait of the oldest. A wait includes delays and earlier failures. At
-- journal_level off no wait is known.
create or replace function howdah.queue_times(queue text) returns table (
    kind text, calls bigint, mean interval, half interval, nine_tenths interval, ninety_nine_hundredths interval,
    since timestamptz, counted_at timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_id constant integer := (howdah._destination(queue, 'browse')).id;
begin
    return query
    select h.metric, t.calls, t.calls_seconds / t.calls * interval '1 second', q.half, q.nine_tenths,
        q.ninety_nine_hundredths, e.created_at, e.folded_at
    from howdah.metric_histograms h
    cross join lateral (select sum(c.c)::bigint as calls, h.seconds as calls_seconds from unnest(h.counts) c(c)) t
    cross join lateral (
        select min(s.bound) filter (where b.messages >= t.calls * 0.5) as half,
            min(s.bound) filter (where b.messages >= t.calls * 0.9) as nine_tenths,
            min(s.bound) filter (where b.messages >= t.calls * 0.99) as ninety_nine_hundredths
        from howdah._bucket_rows(h.metric, h.counts) b
        cross join lateral (select nullif(b.le, '+Inf')::double precision * interval '1 second' as bound) s
    ) q
    left join howdah.metric_epoch e on true
    where h.destination_id = v_id and t.calls > 0
    order by h.metric desc;
end
$$;
