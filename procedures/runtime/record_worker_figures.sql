-- howdah.record_worker_figures(worker_id, seconds, figures): record what a worker has done since its last report.
--
-- Returns  the number of rows written (integer): one for each element of figures.
-- Raises   HD005 seconds is not 0 to 86400, or figures is not as below; HD015 the worker is not registered, or no
--          longer.
-- Role     howdah_consumer howdah_admin
--
-- figures is a JSON array of at most 10,000 objects: queue, handled, failed, busy_seconds, handling_counts and, where
-- there is one, listener. handling_counts has 32 counts of handler calls. Element n counts calls under 2^(n-1)
-- microseconds that no element before it counts; the 32nd counts all longer ones.
--
-- The figures cover the last `seconds` seconds of the worker's clock, which end now by the database's clock.
create or replace function howdah.record_worker_figures(worker_id uuid, seconds numeric, figures jsonb) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_now timestamptz := howdah.now();
    v_worker text;
    v_count integer;
begin
    if seconds is null or seconds not between 0 and 86400 then
        raise exception using errcode = 'HD005',
            message = format('seconds must be 0 to 86400, not %s', coalesce(seconds::text, 'NULL'));
    end if;
    if figures is null or jsonb_typeof(figures) <> 'array' or jsonb_array_length(figures) > 10000
       or jsonb_path_exists(figures, 'strict $[*] ? (@.type() != "object")')
       or jsonb_path_exists(figures, 'lax $[*] ? (!(exists(@.queue ? (@.type() == "string" && @ != "")))
              || exists(@.listener ? (@.type() != "string" && @.type() != "null"))
              || !(exists(@.handled ? (@ >= 0 && @ <= 1000000000000 && @.floor() == @)))
              || !(exists(@.failed ? (@ >= 0 && @ <= 1000000000000 && @.floor() == @)))
              || !(exists(@.busy_seconds ? (@ >= 0 && @ <= 1000000000000)))
              || !(exists(@.handling_counts)) || @.handling_counts.size() != 32
              || exists(@.handling_counts[*].type() ? (@ != "number"))
              || exists(@.handling_counts[*] ? (!(@ >= 0 && @ <= 1000000000000 && @.floor() == @))))') then
        raise exception using errcode = 'HD005',
            message = 'figures must be a JSON array of what was done of each queue',
            hint = 'Each element has queue, handled, failed, busy_seconds and 32 handling_counts; nothing is below 0.';
    end if;
    select w.name into v_worker from howdah.workers w where w.worker_id = record_worker_figures.worker_id;
    if not found then
        raise exception using errcode = 'HD015', message = format('worker %s is not registered', worker_id),
            hint = 'It was silent for too long and was removed; register it again.';
    end if;
    insert into howdah.worker_figures (worker, queue, listener, from_at, until_at, handled, failed, busy_seconds,
        handling_counts)
    select v_worker, f.queue, f.listener, v_now - seconds * interval '1 second', v_now, f.handled::bigint,
        f.failed::bigint, f.busy_seconds, f.handling_counts::bigint[]
    from jsonb_to_recordset(figures) f(  -- numeric, because JSON may write 1 as 1.0
        queue text, listener text, handled numeric, failed numeric, busy_seconds double precision,
        handling_counts numeric[]);
    get diagnostics v_count = row_count;
    return v_count;
end
$$;
