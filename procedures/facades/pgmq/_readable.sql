-- pgmq._readable(p_time): the nearest time that every client can read.
--
-- Returns  timestamptz: from 1970 to 9999; NULL for NULL.
-- Role     internal
--
-- pgmq takes infinity. A driver that cannot read it could then read no list, and no audit, that shows the message.
create or replace function pgmq._readable(p_time timestamptz) returns timestamptz
language sql immutable
as $$
    select case when p_time is not null then greatest(least(p_time, timestamptz '9999-01-01 00:00:00+00'),
        timestamptz '1970-01-01 00:00:00+00') end
$$;
