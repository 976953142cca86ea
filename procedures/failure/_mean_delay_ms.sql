-- howdah._mean_delay_ms(p_destination, p_failures): the delay before redelivery number p_failures, without collision
-- avoidance.
--
-- Returns  milliseconds (double precision), at least 0.
-- Role     internal
--
-- This is ActiveMQ's formula in closed form. The first delay is initial_redelivery_delay_ms, the following ones are
-- redelivery_delay_ms. With exponential backoff each is backoff_multiplier times the one before. A delay over the
-- bound becomes the larger of max_redelivery_delay_ms and redelivery_delay_ms.
create or replace function howdah._mean_delay_ms(
    p_destination howdah.destinations, p_failures integer
) returns double precision
language sql immutable
as $$
    select case
        when p_failures <= 1 then f.initial
        when not p_destination.use_exponential_backoff or p_destination.backoff_multiplier <= 1 then f.redelivery
        when p_destination.max_redelivery_delay_ms >= 0 and f.grown > p_destination.max_redelivery_delay_ms
            then greatest(p_destination.max_redelivery_delay_ms, f.redelivery)
        else f.grown
    end
    from (
        select b.initial, b.redelivery,
            least(case when b.initial > 0 then b.initial * p_destination.backoff_multiplier ^ least(p_failures - 1, 100)
                       else b.redelivery * p_destination.backoff_multiplier ^ least(p_failures - 2, 100) end,
                       3155760000000) as grown
        from (select coalesce(p_destination.initial_redelivery_delay_ms,
            p_destination.redelivery_delay_ms)::double precision as initial,
                  p_destination.redelivery_delay_ms::double precision as redelivery) b
    ) f
$$;
