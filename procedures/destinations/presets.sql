-- howdah.presets(): compare the presets.
--
-- Returns  one row per option of a policy, with its value in each preset.
-- Role     everybody
create or replace function howdah.presets() returns table (
    option text, howdah jsonb, websphere jsonb, websphere_mq jsonb, service_broker jsonb, activemq jsonb
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select o.key, howdah._preset('howdah') -> o.key, o.value, howdah._preset('websphere_mq') -> o.key,
        howdah._preset('service_broker') -> o.key, howdah._preset('activemq') -> o.key
    from jsonb_each(howdah._preset('websphere')) o order by o.key
$$;
