-- howdah._is_walked(p_destination): whether a queue's options forbid simply taking the next message, with or without a
-- selector (docs/decisions/0011).
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_walked(p_destination howdah.destinations) returns boolean
language sql immutable
as $$ select p_destination.strict_order or p_destination.message_groups <> 'none'
    or p_destination.delivery_policy <> 'shared' or howdah._is_limited_by_key(p_destination) $$;
