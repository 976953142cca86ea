-- howdah._subscription(p_name, p_verb): a subscription that the caller has a right to.
--
-- Returns  the row of howdah.destinations; p_name is what howdah.subscribe returned.
-- Raises   HD001 no such subscription; HD010 the caller does not have the right p_verb there.
-- Role     internal
create or replace function howdah._subscription(p_name text, p_verb text) returns howdah.destinations
language plpgsql stable
as $$
declare
    v_subscription howdah.destinations := howdah._destination(p_name, p_verb);
begin
    if v_subscription.kind <> 'subscription' then
        raise exception using errcode = 'HD001', message = format('%s is a %s, not a subscription',
            quote_literal(p_name), v_subscription.kind),
            hint = 'See howdah.list_subscriptions().';
    end if;
    return v_subscription;
end
$$;
