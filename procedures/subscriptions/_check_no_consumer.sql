-- howdah._check_no_consumer(p_subscription): refuse to read or end a subscription that has an open consumer.
--
-- Raises   HD024 it has one.
-- Role     internal
create or replace function howdah._check_no_consumer(p_subscription howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if howdah._has_consumer(p_subscription.id) then
        raise exception using errcode = 'HD024', message = format('subscription %s has an open consumer',
            quote_literal(p_subscription.name)),
            hint =
                'Only that consumer reads it, by its number, until it is closed; see '
                'howdah.list_consumers(subscription).';
    end if;
end
$$;
