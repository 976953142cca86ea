-- howdah.set_connection(connection, local): say which connection of a client this session, or transaction, belongs to.
--
-- Raises   HD005 it is no token.
-- Role     howdah_consumer howdah_admin
--
-- For clients with several sessions, and behind a transaction pooler, where it is said in each transaction, with local.
-- The token is a secret of 16 to 200 characters that the client makes up. Its temporary queues last for a minute after
-- something was last heard of it: a receive, a wait, howdah.keep_connection(). It is a setting of the session,
-- howdah.connection; NULL takes it back.
create or replace function howdah.set_connection(connection text, local boolean default false) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if connection !~ '^[A-Za-z0-9_.-]{16,200}$' then
        raise exception using errcode = 'HD005', message = 'that is no token of a connection',
            hint = 'It has 16 to 200 characters out of A-Z a-z 0-9 . _ - that nobody can guess, such as a random UUID.';
    end if;
    perform set_config('howdah.connection', coalesce(connection, ''), coalesce(local, false));
end
$$;
