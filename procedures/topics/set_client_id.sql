-- howdah.set_client_id(client_id, local): set the client id under which this session publishes, for subscriptions with
-- no_local.
--
-- Raises   HD003 bad client id.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- It is the session's setting howdah.client_id; NULL resets it. Behind a transaction pooler, set it in each transaction
-- with local.
--
-- It is a name and no claim. Any number of sessions may publish under it, including those of the client that claimed
-- it.
create or replace function howdah.set_client_id(client_id text, local boolean default false) returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if client_id !~ '^[A-Za-z0-9_.-]{1,200}$' then
        raise exception using errcode = 'HD003', message = 'bad client id',
            hint = 'It has up to 200 characters out of A-Z a-z 0-9 . _ -';
    end if;
    perform set_config('howdah.client_id', coalesce(client_id, ''), coalesce(local, false));
end
$$;
