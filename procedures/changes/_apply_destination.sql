-- howdah._apply_destination(p_kind, p_name, p_is, p_wanted): give a queue, topic or subscription wanted properties.
--
-- Raises   HD011 it is to be dropped and holds messages, or the topic has subscriptions; what the verbs raise that it
--          calls.
-- Role     internal
--
-- p_is NULL: it is made. p_wanted NULL: it is dropped, if that loses no message. A subscription that is made anew gets
-- what is published from then on.
create or replace function howdah._apply_destination(
    p_kind text, p_name text, p_is jsonb, p_wanted jsonb
) returns void
language plpgsql volatile
as $$
declare
    v_pauses constant text[] := array['sending_paused', 'receiving_paused', 'grants'];
    v_defines constant text[] := array['topic', 'name', 'client_id', 'selector', 'shared', 'no_local', 'prioritized',
        'transformation'];
    v_options jsonb := p_wanted - v_pauses;
begin
    if p_wanted is null then
        if p_kind = 'queue' then
            perform howdah.drop_queue(p_name);
        elsif p_kind = 'topic' then
            perform howdah.drop_topic(p_name);
        elsif exists (select from howdah.destinations d
            where d.name = p_name and d.dropped_at is null and (howdah._holds_messages(d.id) or exists (
                select from howdah._lags(null) l where l.subscription_id = d.id and l.behind > 0))) then
            raise exception using errcode = 'HD011',
                message = format('subscription %s has messages to read', quote_literal(p_name)),
                hint = 'Read them, or end it with howdah.unsubscribe(subscription).';
        else
            perform howdah.unsubscribe(p_name);
        end if;
        return;
    end if;
    if p_is is null then
        if p_kind = 'queue' then
            perform howdah.create_queue(p_name, v_options);
        elsif p_kind = 'topic' then
            perform howdah.create_topic(p_name, v_options);
        else
            perform howdah.subscribe(p_wanted ->> 'topic', p_wanted ->> 'name', p_wanted ->> 'client_id',
                p_wanted ->> 'selector', (p_wanted ->> 'shared')::boolean, true, (p_wanted ->> 'no_local')::boolean,
                null, jsonb_build_object('prioritized', p_wanted -> 'prioritized'));
        end if;
        perform howdah._set_grants(p_name, p_wanted -> 'grants', true);
        p_is := howdah._properties(p_kind, p_name);
    end if;
    if p_kind = 'subscription' then
        v_options := v_options - v_defines;
    end if;
    v_options := howdah._delta(p_is, v_options);
    perform howdah.transform_subscription(p_name, p_wanted ->> 'transformation')
    where p_kind = 'subscription' and p_wanted -> 'transformation' is distinct from p_is -> 'transformation';
    if v_options <> '{}' and p_kind = 'topic' then
        perform howdah.alter_topic(p_name, v_options);
    elsif v_options <> '{}' then
        perform howdah.alter_queue(p_name, v_options);
    end if;
    perform howdah._switch_paused(p_name, p_wanted);
end
$$;
