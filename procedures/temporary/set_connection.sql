-- howdah.set_connection(connection, local): set the client connection to which this session, or transaction, belongs.
--
-- Raises   HD005 it is no valid token.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- It is for clients with several sessions. Behind a transaction pooler, call it in each transaction with local. The
-- token is a secret of 16 to 200 characters that the client chooses.
--
-- Its temporary queues last for a minute after the last sign of life: a receive, a wait, or howdah.keep_connection().
-- It is the session's setting howdah.connection; NULL resets it.
--
-- Where a destination's option discard_with_sender is set, its messages there last for five seconds after the last one,
-- or the last howdah.keep_connection(). Without a connection they end with the database session that sent them.
create or replace function howdah.set_connection(connection text, local boolean default false) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if connection !~ '^[A-Za-z0-9_.-]{16,200}$' then
        raise exception using errcode = 'HD005', message = 'connection is not a token',
            hint = 'Pass a random UUID, or 16 to 200 of the characters A-Z a-z 0-9 . _ - that nobody can guess.';
    end if;
    perform set_config('howdah.connection', coalesce(connection, ''), coalesce(local, false));
end
$$;
