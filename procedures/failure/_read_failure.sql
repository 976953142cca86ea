-- howdah._read_failure(p_failure): read the arguments of howdah.record_failure and check them.
--
-- Returns  one row, a column for each argument (NULL: not given).
-- Raises   HD005 wrong argument.
-- Role     internal
create or replace function howdah._read_failure(
    p_failure jsonb, out message_id bigint, out error_text text, out error_class text, out sqlstate text,
    out traceback text, out duration_ms integer, out worker text, out failure_key uuid, out details jsonb,
    out priority integer, out "position" bigint, out stage smallint, out delay_ms numeric, out conversation_id uuid,
    out message_group text, out reject boolean
) returns record
language plpgsql stable
as $$
begin
    select f.* into message_id, error_text, error_class, sqlstate, traceback, duration_ms, worker, failure_key, details,
        priority, "position", stage, delay_ms, conversation_id, message_group, reject
    from jsonb_to_record(p_failure) f(
        message_id bigint, error_text text, error_class text, sqlstate text, traceback text, duration_ms integer,
        worker text, failure_key uuid, details jsonb, priority integer, "position" bigint, stage smallint,
        delay_ms numeric, conversation_id uuid, message_group text, reject boolean);
    if message_id is null or delay_ms not between 0 and 3155760000000 or duration_ms < 0 or priority not between 0 and 9
       or stage < 0 or details is not null and jsonb_typeof(details) not in ('object', 'null') then
        raise data_exception;
    end if;
exception when data_exception then
    raise exception using errcode = 'HD005', message = 'wrong argument for record_failure',
        hint =
            'message_id is needed; delay (up to 100 years) and duration_ms are not negative; priority is 0 to 9; '
            'details is a JSON object; reject is true or false.';
end
$$;
