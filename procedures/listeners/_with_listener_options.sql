-- howdah._with_listener_options(p_listener, p_options): a listener's row with options applied.
--
-- Returns  the changed row; nothing is written.
-- Raises   HD004 an option is unknown or wrong.
-- Role     internal
create or replace function howdah._with_listener_options(
    p_listener howdah.listeners, p_options jsonb
) returns howdah.listeners
language plpgsql volatile
as $$
begin
    perform howdah._check_options('listener', p_options);
    return jsonb_populate_record(p_listener, p_options);
end
$$;
