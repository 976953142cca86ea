-- howdah._transform(p_name, p_message): what a transformation makes of a message, or the error that it raised.
--
-- Returns  message: the same message with the body, bytes, content_type, headers, correlation_id, reply_to and
--          message_type that the function returned. failure: NULL, or the error as howdah.record_failure takes it.
--          unfit: true if the function was not called, because it is gone or no longer suitable.
-- Raises   what the function raised, if no message is to blame for it.
-- Role     internal
--
-- The headers by which links cut loops stay as they were, whatever the function made of them.
--
-- An error is the message's fault by the same rule as an error at the target of a link. So is a result that cannot be a
-- message. howdah._run_function says how the function is called.
create or replace function howdah._transform(
    p_name text, p_message howdah.message, out message howdah.message, out failure jsonb, out unfit boolean
) returns record
language plpgsql volatile
as $$
declare
    v_transformation howdah.transformations;
    v_run record;
    v_way constant text[] := '{JMS_Howdah_Origin,JMS_Howdah_Route}';
begin
    p_message.headers := coalesce(p_message.headers, '{}');
    select t.* into v_transformation from howdah.transformations t where t.name = p_name;
    v_run := howdah._run_function('transformation', v_transformation.function, v_transformation.function_owner,
        p_message, null);
    unfit := v_run.fault is not null and v_run.error_state is null;
    if not unfit and howdah._link_refusal(v_run.error_state) is null and v_run.fault is not null then
        raise exception using errcode = v_run.error_state,
            message = format('the transformation %s failed: %s', quote_literal(p_name), v_run.fault),
            hint = 'No message is to blame for this error. Messages wait meanwhile.';
    end if;
    if v_run.fault is not null then
        failure := jsonb_build_object('message_id', p_message.message_id,
            'error_text', format('transformation %s: %s', p_name, v_run.fault),
            'error_class', 'TransformationFailed', 'sqlstate', v_run.error_state, 'traceback', v_run.context,
            'priority', p_message.priority, 'position', p_message."position", 'stage', p_message.stage,
            'details', jsonb_build_object('transformation', p_name));
        return;
    end if;
    message := p_message;
    message.body := (v_run.made).body;
    message.bytes := (v_run.made).bytes;
    message.content_type := (v_run.made).content_type;
    message.headers := (coalesce((v_run.made).headers, '{}') - v_way)
        || coalesce((select jsonb_object_agg(h.key, h.value) from jsonb_each(p_message.headers) h
                     where h.key = any (v_way)), '{}');
    message.correlation_id := (v_run.made).correlation_id;
    message.reply_to := (v_run.made).reply_to;
    message.message_type := (v_run.made).message_type;
end
$$;
