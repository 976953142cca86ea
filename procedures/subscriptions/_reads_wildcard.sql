-- howdah._reads_wildcard(p_destination): whether a destination is a subscription by wildcard. A caller may have a right
-- to some of its topics alone.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._reads_wildcard(p_destination howdah.destinations) returns boolean
language sql stable
as $$
    select p_destination.kind = 'subscription' and exists (
        select from howdah.subscriptions s
        where s.destination_id = p_destination.id and howdah._is_wildcard(s.topic))
$$;
