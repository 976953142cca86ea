-- howdah._is_one_by_one(p_destination_id): whether a queue's options admit one consumer at a time, so that no free
-- message may be skipped.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_one_by_one(p_destination_id integer) returns boolean
language sql stable
as $$ select d.strict_order or d.delivery_policy in ('single', 'failover') from howdah.destinations d
    where d.id = p_destination_id $$;
