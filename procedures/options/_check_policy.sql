-- howdah._check_policy(p_destination): refuse a policy that contradicts itself.
--
-- Raises   HD004 options contradict each other.
-- Role     internal
create or replace function howdah._check_policy(p_destination howdah.destinations) returns void
language plpgsql stable
as $$
declare
    v_wrong text := case
        when p_destination.exception_mode = 'named' and p_destination.exception_queue is null
            then 'option exception_mode "named" needs the option exception_queue'
        when p_destination.exception_mode <> 'named' and p_destination.exception_queue is not null
            then 'option exception_queue goes with exception_mode "named" only'
        when p_destination.at_limit in ('quarantine', 'end_conversation') and p_destination.exception_mode = 'none'
            then format('option at_limit "%s" needs an exception destination for what it does not take',
                p_destination.at_limit)
        when p_destination.backout_count = 'hardened' and p_destination.count_by <> 'message'
            then 'option backout_count "hardened" goes with count_by "message" only'
        when p_destination.kind = 'subscription' and (p_destination.strict_order
            or p_destination.backout_count = 'hardened')
            then 'options strict_order and backout_count "hardened" are for queues, not for subscriptions'
        when p_destination.backout_count = 'hardened'
            and (p_destination.message_groups = 'sticky' or p_destination.delivery_policy <> 'shared')
            then
                'option backout_count "hardened" goes neither with message_groups "sticky" nor with a '
                'delivery_policy, which need consumers'
        when p_destination.kind = 'subscription' and (p_destination.message_groups <> 'none'
            or p_destination.delivery_policy <> 'shared')
            then 'options message_groups and delivery_policy are for queues, not for subscriptions'
        when p_destination.poison_procedure is not null and (p_destination.decided_at = 'failure'
            or p_destination.at_limit = 'move' and p_destination.exception_mode = 'none')
            then
                'option poison_procedure needs decided_at "receive", and a place for messages that the procedure leaves'
        when p_destination.last_value_key = '' then 'option last_value_key is the name of a header, or null'
        when p_destination.log_queue = p_destination.name then 'a queue cannot be its own log_queue'
        when p_destination.kind = 'subscription' and p_destination.limited
            then 'limits of concurrency and rates are for queues, not for subscriptions'
        when p_destination.backout_count = 'hardened' and p_destination.limited
            then 'option backout_count "hardened" does not go with limits of concurrency or rates'
        when p_destination.limit_key is null and howdah._is_limited_by_key(p_destination)
            then 'options max_concurrent_per_key and rate_limit_per_key need the option limit_key'
        when howdah._is_limited_by_key(p_destination)
            and (p_destination.strict_order or p_destination.delivery_policy in ('single', 'failover'))
            then
                'options max_concurrent_per_key and rate_limit_per_key skip messages, which strict_order and '
                'delivery_policy "single" or "failover" forbid'
        when howdah._is_limited_by_key(p_destination) and p_destination.message_groups <> 'none'
            and p_destination.limit_key <> 'JMSXGroupID'
            then 'with message_groups, limit_key is "JMSXGroupID", so that a limit skips whole groups'
        when p_destination.disable_after > 0 and p_destination.journal_level = 'off'
            then 'option disable_after needs the journal, which tells successes from failures'
    end;
begin
    if v_wrong is not null then
        raise exception using errcode = 'HD004', message = v_wrong,
            hint =
                'exception_mode "none" keeps messages past the limit in the queue; howdah.queue_options(queue) shows '
                'what holds.';
    end if;
end
$$;
