-- howdah.find_trace(trace_id, after, max_rows): find the messages of a trace, in all queues that the caller may browse.
--
-- Returns  up to max_rows rows. source: header (traceparent names the trace; at is when it was sent) or failure (its
--          handler failed in that trace; at is when). Then there is always one row without message_id. It has the
--          number of messages looked at, whether that was all (complete), and the cursor for the next call.
-- Raises   HD005 wrong argument; HD010 called from a maintenance command; HD037 on a standby.
-- Role     howdah_browser howdah_consumer howdah_admin howdah_auditor
--
-- One call looks at 20,000 messages in 500 queues at most; it locks nothing. The first one also looks at the 10,000
-- newest failures. trace_id: 32 hexadecimal digits.
create or replace function howdah.find_trace(
    trace_id text, after jsonb default null, max_rows integer default 50
) returns table (
    message_id bigint, queue_name text, state text, at timestamptz, source text, cursor jsonb, looked bigint,
    complete boolean
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
#variable_conflict use_column
declare
    v_most constant bigint := 20000;
    v_queues integer := 500;
    v_filter constant jsonb := jsonb_build_object('trace', lower(trace_id));
    v_after jsonb := case when jsonb_typeof(after) = 'object' then nullif(after - 'queue', '{}') else after end;
    v_start constant jsonb := '{"place": 1, "rank": -1, "key": -1}';
    v_first integer := 0;
    v_left bigint := max_rows;
    v_looked bigint := 0;
    v_before bigint;
    v_bound bigint;
    v_place howdah.destinations;
    v_row record;
begin
    perform howdah._check_all_here();
    if (max_rows between 1 and 1000 and coalesce(after ->> 'queue', '0') ~ '^[0-9]{1,9}$') is not true then
        raise exception using errcode = 'HD005',
            message = 'max_rows must be 1 to 1000, and after a cursor of this search',
            hint = 'Pass the cursor of the row before, as it is.';
    end if;
    perform howdah._check_filter(v_filter, v_after);
    v_first := coalesce((after ->> 'queue')::integer, 0);
    v_after := coalesce(nullif(v_after, 'null'), v_start);
    if after is null then
        return query select f.message_id, f.queue_name, null::text, f.at, 'failure', null::jsonb, null::bigint,
                null::boolean
            from howdah._trace_in_failures(lower(trace_id), 10000, max_rows) f;
        get diagnostics v_left = row_count;
        v_left := max_rows - v_left;
        if v_left = 0 then
            return query select null::bigint, null::text, null::text, null::timestamptz, null::text,
                jsonb '{"queue": 0}', v_looked, false;
            return;
        end if;
    end if;
    for v_place in
        select d.* from howdah.destinations d
        where d.id >= v_first and d.kind in ('queue', 'subscription') and d.dropped_at is null
          and not d.name ^@ '_TEMP.' and (exists (select from howdah.msgs m where m.destination_id = d.id)
            or exists (select from howdah.parked p where p.destination_id = d.id)
            or exists (select from howdah.leased l where l.destination_id = d.id)
            or exists (select from howdah.msgs_nonpersistent n where n.destination_id = d.id))
          and howdah._has_right(d.id, 'browse')
        order by d.id
    loop
        if v_queues = 0 then
            return query select null::bigint, null::text, null::text, null::timestamptz, null::text,
                jsonb_build_object('queue', v_place.id), v_looked, false;
            return;
        end if;
        v_queues := v_queues - 1;
        v_before := v_looked;
        v_bound := v_most - v_looked;
        for v_row in
            select f.* from howdah._trace_in_messages(v_place.id, lower(trace_id),
                case when v_place.id = v_first then (v_after ->> 'place')::integer else 1 end,
                case when v_place.id = v_first then (v_after ->> 'rank')::smallint else -1::smallint end,
                case when v_place.id = v_first then (v_after ->> 'key')::bigint else -1 end, v_bound) f
        loop
            v_looked := v_before + v_row.number;
            if v_row.hit then
                v_left := v_left - 1;
                return query select v_row.message_id, v_place.name, v_row.state, v_row.sent_at, 'header', null::jsonb,
                    null::bigint, null::boolean;
            end if;
            if v_left = 0 or v_row.number = v_bound then
                return query select null::bigint, null::text, null::text, null::timestamptz, null::text,
                    jsonb_build_object('queue', v_place.id, 'place', v_row.place, 'rank', v_row.rank, 'key', v_row.key),
                    v_looked, false;
                return;
            end if;
        end loop;
    end loop;
    return query select null::bigint, null::text, null::text, null::timestamptz, null::text, null::jsonb, v_looked,
        true;
end
$$;
