-- pgmq._visible_from(p_delay): the time from which a message is visible.
--
-- Returns  timestamptz; NULL for a delay of no seconds: at once.
-- Raises   23502 p_delay is NULL.
-- Role     internal
create or replace function pgmq._visible_from(p_delay integer) returns timestamptz
language plpgsql volatile
as $$
begin
    if p_delay is null then
        raise exception using errcode = 'not_null_violation',
            message = 'null value in column "vt" violates not-null constraint';
    elsif p_delay <> 0 then
        return howdah.now() + make_interval(secs => p_delay);
    end if;
    return null;
end
$$;

-- pgmq._visible_from(p_delay): the time from which a message is visible.
--
-- Returns  timestamptz.
-- Raises   23502 p_delay is NULL.
-- Role     internal
create or replace function pgmq._visible_from(p_delay timestamptz) returns timestamptz
language plpgsql volatile
as $$
begin
    if p_delay is null then
        raise exception using errcode = 'not_null_violation',
            message = 'null value in column "vt" violates not-null constraint';
    end if;
    return p_delay;
end
$$;
