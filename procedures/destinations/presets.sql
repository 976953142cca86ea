-- howdah.presets(): compare the presets.
--
-- Returns  one row per option of a policy, with its value in each preset. NULL: the preset leaves it as it is.
-- Role     everybody
create or replace function howdah.presets() returns table (
    option text, howdah jsonb, websphere jsonb, websphere_mq jsonb, service_broker jsonb, activemq jsonb,
    sun_mq jsonb
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select o.key, howdah._preset('howdah') -> o.key, howdah._preset('websphere') -> o.key,
        howdah._preset('websphere_mq') -> o.key, howdah._preset('service_broker') -> o.key,
        howdah._preset('activemq') -> o.key, howdah._preset('sun_mq') -> o.key
    from jsonb_each(howdah._preset('sun_mq') || howdah._preset('websphere')) o order by o.key
$$;
