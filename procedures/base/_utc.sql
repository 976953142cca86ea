-- howdah._utc(p_at): a time as text for JSON, whatever the session's time zone and style.
--
-- Returns  text (ISO 8601).
-- Role     internal
create or replace function howdah._utc(p_at timestamptz) returns text
language sql stable parallel safe
as $$ select to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') $$;
