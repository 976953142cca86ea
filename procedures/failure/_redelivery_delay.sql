-- howdah._redelivery_delay(p_destination, p_failures, p_delay_ms): how long a message waits for its redelivery.
--
-- Returns  interval; p_delay_ms itself if it is given.
-- Role     internal
create or replace function howdah._redelivery_delay(
    p_destination howdah.destinations, p_failures integer, p_delay_ms bigint
) returns interval
language sql volatile
as $$
    select interval '1 millisecond' * coalesce(p_delay_ms, howdah._mean_delay_ms(p_destination, p_failures)
        * (1 + case when p_destination.use_collision_avoidance
                    then sign(random() - 0.5) * random() * p_destination.collision_avoidance_factor else 0 end))
$$;
