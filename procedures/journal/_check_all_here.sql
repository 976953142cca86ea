-- howdah._check_all_here(): refuse to show a part as the whole on a standby, which has no non-persistent messages.
--
-- Raises   HD037 the server is a standby.
-- Role     internal
--
-- They are in UNLOGGED tables, which PostgreSQL does not let a standby read at all.
create or replace function howdah._check_all_here() returns void
language plpgsql stable
as $$
begin
    if pg_is_in_recovery() then
        raise exception using errcode = 'HD037',
            message = 'this server is a standby: non-persistent messages are on the primary alone',
            hint =
                'Ask the primary: target_session_attrs=primary in the DSN. What a standby answers is in '
                'docs/operations.md.';
    end if;
end
$$;
