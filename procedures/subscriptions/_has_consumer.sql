-- howdah._has_consumer(p_subscription_id): whether a subscription has an open consumer; dead consumers are closed.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._has_consumer(p_subscription_id integer) returns boolean
language plpgsql volatile
as $$
begin
    if not exists (select from howdah.consumers c where c.destination_id = p_subscription_id) then
        return false;
    end if;
    perform howdah._close_dead(p_subscription_id, howdah.now());
    return exists (select from howdah.consumers c where c.destination_id = p_subscription_id);
end
$$;
