-- howdah._check_reader(p_subscription, p_consumer): refuse who would read an unshared subscription that is somebody
-- else's.
--
-- Raises   HD024 it has an open consumer, or, for who has no number, messages of it are leased; HD032 the consumer is
--          not open (any more).
-- Role     internal
--
-- The caller has locked the subscription. Whatever is leased beside an open consumer is that one's: nobody can open
-- one, or lease without a number, beside a lease.
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
