-- howdah._death_reason(p_weight): the reason of death of a message with a given weight of incidents.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._death_reason(p_weight integer) returns text
language sql immutable
as $$ select case when p_weight = 2147483647 then 'rejected by its handler'
    else 'failed deliveries reached the limit' end $$;
