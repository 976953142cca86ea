-- howdah._check_reader(p_subscription, p_consumer): refuse to read an unshared subscription that belongs to somebody
-- else.
--
-- Raises   HD024 it has an open consumer, or the caller has no consumer number and messages of it are leased; HD032 the
--          consumer is not open, or no longer.
-- Role     internal
--
-- The caller has locked the subscription. Whatever is leased beside an open consumer belongs to that consumer: beside a
-- lease, nobody can open a consumer or lease without a number.
create or replace function howdah._check_reader(p_subscription howdah.destinations, p_consumer bigint) returns void
language plpgsql volatile
as $$
begin
    if p_consumer is not null then
        perform howdah._check_consumer(p_subscription, p_consumer, howdah.now());
    else
        perform howdah._check_no_consumer(p_subscription);
        perform howdah._check_not_leased(p_subscription);
    end if;
end
$$;
