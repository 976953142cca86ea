-- howdah._seal(p_secret, p_message_id, p_recorded_at, p_error_class, p_error_text, p_sqlstate): a value that reveals
-- whether an incident was changed.
--
-- Returns  16 bytes (bytea), as howdah._digest.
-- Role     internal
--
-- The view for audits repeats the expression, because a view calls functions with its reader's rights.
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
