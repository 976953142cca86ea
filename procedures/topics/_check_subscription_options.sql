-- howdah._check_subscription_options(p_options): refuse options that subscriptions cannot have.
--
-- Raises   HD004 wrong option.
-- Role     internal
create or replace function howdah._check_subscription_options(p_options jsonb) returns void
language plpgsql volatile
as $$
begin
    if p_options is null or jsonb_typeof(p_options) <> 'object' or jsonb_typeof(p_options -> 'prioritized') <> 'boolean'
        or p_options @> '{"strict_order": true}' or p_options @> '{"backout_count": "hardened"}'
        or p_options @> '{"discard_with_sender": true}' or p_options ->> 'keep_bodies_ms' is not null
        or p_options ->> 'last_value_key' is not null
        or p_options ->> 'contract' is not null
        or p_options ->> 'message_groups' <> 'none' or p_options ->> 'delivery_policy' <> 'shared' then
        raise exception using errcode = 'HD004', message = 'wrong options of a subscription',
            hint =
                'They are a JSON object; prioritized is true or false; strict_order, backout_count "hardened", '
                'message_groups, delivery_policy, keep_bodies_ms, last_value_key, contract and discard_with_sender are '
                'for queues.';
    end if;
end
$$;
