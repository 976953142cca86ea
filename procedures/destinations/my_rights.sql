-- howdah.my_rights(queue): what the caller may do with a queue, topic or subscription.
--
-- Returns  send, receive, browse and admin, as far as the caller may (text[]). NULL: there is none of that name.
-- Raises   HD010 called from a maintenance command.
-- Role     everybody
--
-- It tells of rights to that destination alone. To call a function, a role also needs EXECUTE. About a temporary queue
-- it does not say whose it is. An alias has no rights of its own.
create or replace function howdah.my_rights(queue text) returns text[]
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    perform howdah._refuse_maintenance();
    return (
        select array(select v.verb from unnest(array['send', 'receive', 'browse', 'admin']) v(verb)
            where howdah._has_right(d.id, v.verb))
        from howdah.destinations d where d.name = queue and d.dropped_at is null);
end
$$;
