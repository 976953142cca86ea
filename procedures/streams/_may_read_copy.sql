-- howdah._may_read_copy(p_message_id, p_verb): whether the caller has a right to the topic of a message that was set
-- aside for a wildcard subscription.
--
-- Returns  boolean; true also for a message of a queue, which an administrator moved there.
-- Role     internal
create or replace function howdah._may_read_copy(p_message_id bigint, p_verb text) returns boolean
language sql stable
as $$
    select d.kind <> 'topic' or case when d.dropped_at is null then howdah._has_right(d.id, p_verb)
        -- Its own rights are no longer kept up.
        else howdah._has_right_by_name('topic', d.name, howdah._operation_of(p_verb)) end
    from howdah.destinations d where d.id = p_message_id % 1000000
$$;
