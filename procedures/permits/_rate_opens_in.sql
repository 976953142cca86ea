-- howdah._rate_opens_in(p_queue): how long until the rates of a queue let another message through.
--
-- Returns  interval, for the queue's own rate, or else for the first of the keys that are spent. NULL: none is spent.
--          At most the spacing of the rate, also if the clock was set back.
-- Role     internal
create or replace function howdah._rate_opens_in(p_queue howdah.destinations) returns interval
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
declare
    v_now bigint := howdah._microseconds(howdah.now());
    v_since bigint := (select pg_sequence_last_value(c.mark) from howdah.rate_cells c
                       where c.destination_id = p_queue.id and c.number = 0);
    v_opens bigint;
begin
    v_opens := (select least(greatest(pg_sequence_last_value(c.spent) - (r.burst - 1) * r.spacing,
                    v_since + r.spacing), v_now + r.spacing)
                from howdah.rate_cells c cross join lateral howdah._parse_rate(p_queue.rate_limit) r
                where c.destination_id = p_queue.id and c.number = 0);
    if (v_opens > v_now) is not true and p_queue.rate_limit_per_key is not null then
        v_opens := (select min(k.opens)
                    from (select least(pg_sequence_last_value(c.spent) - (r.burst - 1) * r.spacing,
                              v_now + r.spacing) as opens
                          from howdah.rate_cells c cross join lateral howdah._parse_rate(p_queue.rate_limit_per_key) r
                          where c.destination_id = p_queue.id and c.number > 0) k
                    where k.opens > v_now);
    end if;
    return case when v_opens > v_now then (v_opens - v_now) * interval '1 microsecond' end;
end
$$;
