-- howdah._has_right(p_destination_id, p_verb): whether the caller may use a destination so.
--
-- Returns  boolean.
-- Role     internal
--
-- Asked of each topic of a wildcard at each receive: who subscribed did not know which topics would match, nor who may
-- read them later. A subscription to one topic has rights of its own, made from that topic's, and nothing is looked up
-- for it.
create or replace function howdah._has_right(p_destination_id integer, p_verb text) returns boolean
language sql stable
as $$
    select exists (select from howdah.destination_grants g
                   where g.destination_id = p_destination_id and g.verb = p_verb
                     and howdah._has_role(g.role_name))
$$;
