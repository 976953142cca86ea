-- howdah._alter_topic(p_topic_id, p_options): store checked options of a topic.
--
-- Raises   HD004 the options contradict each other; HD023 the selector is invalid.
-- Role     internal
--
-- The caller has locked the topic's row of howdah.destinations. The call writes all options, also those that stay.
create or replace function howdah._alter_topic(p_topic_id integer, p_options jsonb) returns void
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
    v_old howdah.topics;
    v_new howdah.topics;
begin
    perform howdah._hold_limits();
    select d.* into v_destination from howdah.destinations d where d.id = p_topic_id;
    v_destination.persistent := v_destination.own_persistent;
    v_destination := jsonb_populate_record(v_destination, p_options);
    perform howdah._check_levels(v_destination);
    select t.* into v_old from howdah.topics t where t.destination_id = p_topic_id;
    v_new := jsonb_populate_record(v_old, p_options);
    if v_new.recovery in ('fixed_count', 'fixed_size', 'timed') and v_new.recovery_amount is null then
        v_new.recovery_amount := case v_new.recovery when 'fixed_count' then 100 when 'fixed_size' then 65536
            else 60000 end;
    elsif v_new.recovery = 'query' and v_new.recovery_selector is null then
        raise exception using errcode = 'HD004', message = 'option recovery "query" needs the option recovery_selector',
            hint = 'It is a selector, such as "price > 100".';
    end if;
    perform howdah._compile_selector(v_new.recovery_selector);
    update howdah.destinations d
    set own_max_message_bytes = case when p_options ? 'max_message_bytes' then v_destination.max_message_bytes
        else d.own_max_message_bytes end, default_priority = v_destination.default_priority,
        default_time_to_live_ms = v_destination.default_time_to_live_ms,
        deduplication_window_ms = v_destination.deduplication_window_ms, own_persistent = v_destination.persistent,
        default_reliability = v_destination.default_reliability, max_reliability = v_destination.max_reliability,
        producer_may_override = v_destination.producer_may_override,
        discard_with_sender = v_destination.discard_with_sender, stamp_user = v_destination.stamp_user,
        contract = v_destination.contract,
        persistent = v_destination.persistent and (select e.persistent from howdah.engine e),
        journal_level = v_destination.journal_level,
        journal_level_at = case when d.journal_level <> v_destination.journal_level then howdah.now()
            else d.journal_level_at end
    where d.id = p_topic_id;
    update howdah.topics t
    set retain_ms = v_new.retain_ms, retain_bytes = v_new.retain_bytes, recovery = v_new.recovery,
        recovery_amount = v_new.recovery_amount, recovery_selector = v_new.recovery_selector,
        backlog_limit = v_new.backlog_limit, backlog_age_ms = v_new.backlog_age_ms,
        backlog_action = v_new.backlog_action,
        refused_for = case when v_new.backlog_action = 'refuse' then t.refused_for end
    where t.destination_id = p_topic_id;
    perform howdah._copy_rights_of(array[p_topic_id]) where p_options ?| '{stamp_user,contract}';
    perform howdah._set_room(p_topic_id);
    perform howdah._note_readers(p_topic_id);
end
$$;
