-- howdah._is_blamed(p_lease, p_message_id): whether a message whose lease ran out counts as delivered.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_blamed(p_lease bigint, p_message_id bigint) returns boolean
language sql stable
as $$
    select e.redelivered_optimization or exists (select from howdah.handed h
        where h.lease_id = p_lease and h.message_id = p_message_id)
    from howdah.engine e
$$;
