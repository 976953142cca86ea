-- howdah._apply_other(p_kind, p_name, p_is, p_wanted): give wanted properties to what is no destination.
--
-- Raises   HD045 a change of this kind cannot be taken back; what the verbs raise that it calls.
-- Role     internal
create or replace function howdah._apply_other(p_kind text, p_name text, p_is jsonb, p_wanted jsonb) returns void
language plpgsql volatile
as $$
declare
    v_of constant jsonb := coalesce(p_wanted, p_is);
begin
    if p_kind = 'alias' then
        perform case when p_wanted is null then howdah.drop_alias(p_name) end;
        perform howdah.create_alias(p_name, p_wanted ->> 'target', p_wanted - 'target') where p_is is null;
        perform howdah.alter_alias(p_name, p_wanted - 'target', p_wanted ->> 'target')
        where p_is is not null and p_wanted is not null;
    elsif p_kind = 'policy' then
        perform case when p_wanted is null then howdah.drop_policy(p_name)::text
            else howdah.set_policy(p_name, p_wanted, false)::text end;
    elsif p_kind = 'redaction' then
        perform case when p_wanted is null then howdah.drop_redaction(v_of ->> 'pattern', v_of ->> 'path')
            else howdah.set_redaction(v_of ->> 'pattern', v_of ->> 'path', v_of ->> 'reason') end;
    elsif p_kind = 'engine' then
        perform howdah.alter_engine(howdah._delta(p_is, p_wanted));
    elsif p_kind = 'bridge' then
        perform howdah.unbridge(v_of ->> 'topic', v_of ->> 'queue') where p_wanted is null;
        perform howdah.bridge(v_of ->> 'topic', v_of ->> 'queue', p_wanted ->> 'selector',
            p_wanted ->> 'transformation') where p_wanted is not null;
    elsif p_kind = 'transformation' then
        perform howdah.drop_transformation(p_name) where p_is is not null;
        perform howdah.register_transformation(p_name, p_wanted ->> 'function') where p_wanted is not null;
    elsif p_kind = 'grant' then
        perform howdah._set_grants(v_of ->> 'queue', v_of -> 'grants', false);
    elsif p_kind in ('rule_set', 'rule', 'service', 'object') then
        perform howdah._apply_administered(p_kind, p_name, p_is, p_wanted);
    elsif p_kind = 'listener' then
        perform howdah.drop_listener(p_name) where p_wanted is null;
        perform howdah.create_listener(p_name, p_wanted ->> 'queue', p_wanted - array['queue', 'stopped'])
        where p_is is null;
        perform howdah.alter_listener(p_name, p_wanted - array['queue', 'stopped'])
        where p_is is not null and p_wanted is not null;
        perform case (p_wanted ->> 'stopped')::boolean when true then howdah.stop_listener(p_name, 'change undone')
            when false then howdah.resume_listener(p_name) end
        where p_wanted -> 'stopped' is distinct from coalesce(p_is -> 'stopped', 'false');
    elsif p_kind = 'link' then
        perform howdah._apply_link(p_name, p_is, p_wanted);
    elsif p_kind = 'storage' then
        perform howdah.set_storage((select coalesce(jsonb_object_agg(k.key, null), '{}')
            from jsonb_object_keys(p_is) k(key)) || p_wanted, array[p_name]);
    elsif p_kind = 'schedule' then
        perform howdah._apply_schedule(p_is, p_wanted);
    else
        raise exception using errcode = 'HD045', message = format('changes of kind %s cannot be taken back', p_kind),
            hint = 'Make the change that you want with its own verb.';
    end if;
end
$$;
