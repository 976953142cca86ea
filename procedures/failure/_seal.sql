-- howdah._seal(p_secret, p_message_id, p_recorded_at, p_error_class, p_error_text, p_sqlstate): what tells an incident
-- from one that was changed.
--
-- Returns  16 bytes (bytea), as howdah._digest.
-- Role     internal
--
-- The view of audits has the same expression, for a view calls functions in its reader's name.
create or replace function howdah._seal(
    p_secret uuid, p_message_id bigint, p_recorded_at timestamptz, p_error_class text, p_error_text text,
    p_sqlstate text
) returns bytea
language sql stable
as $$
    select substr(sha256(convert_to(
        row(p_secret, p_message_id, extract(epoch from p_recorded_at), p_error_class, p_error_text, p_sqlstate)::text,
        'UTF8')), 1, 16)
$$;
