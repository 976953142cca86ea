-- howdah._is_one_by_one(p_destination_id): whether a queue admits one consumer at a time by its options, so that
-- nothing that is free is to be passed by.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_one_by_one(p_destination_id integer) returns boolean
language sql stable
as $$ select d.strict_order or d.delivery_policy in ('single', 'failover') from howdah.destinations d
    where d.id = p_destination_id $$;
