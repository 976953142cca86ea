-- howdah._check_primary(): refuse a standby, whose snapshots do not name the open transactions.
--
-- Raises   HD037 the server is a standby.
-- Role     internal
create or replace function howdah._check_primary() returns void
language plpgsql stable
as $$
begin
    if pg_is_in_recovery() then
        raise exception using errcode = 'HD037',
            message = 'this server is a standby: it cannot tell which transactions are open',
            hint = 'Read from the primary: target_session_attrs=primary in the DSN.';
    end if;
end
$$;
