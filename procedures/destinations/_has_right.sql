-- howdah._has_right(p_destination_id, p_verb): whether the caller has a right to a destination.
--
-- Returns  boolean.
-- Role     internal
--
-- It is checked for each topic of a wildcard at each receive. The subscriber did not know which topics would match, nor
-- who may read them later. A subscription to one topic has rights of its own, copied from the topic's, and needs no
-- lookup.
create or replace function howdah._has_right(p_destination_id integer, p_verb text) returns boolean
language sql stable
as $$
    select exists (select from howdah.destination_grants g
                   where g.destination_id = p_destination_id and g.verb = p_verb
                     and howdah._has_role(g.role_name))
$$;
