-- howdah._check_not_leased(p_subscription): refuse what must not pass leased messages of a subscription.
--
-- Raises   HD024 messages of it are leased.
-- Role     internal
create or replace function howdah._check_not_leased(p_subscription howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if howdah._has_leased(p_subscription.id) then
        raise exception using errcode = 'HD024', message = format('messages of subscription %s are leased',
            quote_literal(p_subscription.name)),
            hint =
                'Try again when they are acknowledged or released, or when their leases have ended '
                '(howdah.list_leases). To lease ahead, '
                'howdah.open_consumer(subscription) and lease with its number.';
    end if;
end
$$;
