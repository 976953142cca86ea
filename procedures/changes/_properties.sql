-- howdah._properties(p_kind, p_name): the properties of a thing that administrators make and change, as it is now.
--
-- Returns  jsonb without secrets; NULL if there is no such thing, or if nobody has to record it.
-- Role     internal
--
-- Nobody records the engine's own destinations, temporary queues, and subscriptions that are not durable. howdah._apply
-- makes the same thing again from the properties.
create or replace function howdah._properties(p_kind text, p_name text) returns jsonb
language plpgsql stable set extra_float_digits = 1
as $$
declare
    v_destination howdah.destinations;
    v_row jsonb;
    v_paused jsonb;
begin
    if p_kind in ('queue', 'topic', 'subscription') then
        select d.* into v_destination from howdah.destinations d
        where d.name = p_name and d.dropped_at is null and d.kind = p_kind and not d.is_system
          and not d.name ^@ '_TEMP.';
        if not found then
            return null;
        end if;
        -- what administrators set, not what is in effect
        v_destination.max_message_bytes := v_destination.own_max_message_bytes;
        v_destination.persistent := v_destination.own_persistent;
        v_row := to_jsonb(v_destination);
        v_paused := jsonb_build_object('sending_paused', v_destination.own_sending_paused,
            'receiving_paused', v_destination.own_receiving_paused);
    end if;
    return case p_kind
        when 'queue' then (
            select v_paused || jsonb_object_agg(k.key, v_row -> k.key)
            from howdah._option_kinds() k where k.owner = 'queue')
        when 'topic' then (
            select v_paused || jsonb_object_agg(k.key, t.row -> k.key)
            from (select v_row || to_jsonb(o) as row from howdah.topics o where o.destination_id = v_destination.id
                offset 0) t
            cross join howdah._option_kinds() k where k.owner = 'topic')
        when 'subscription' then (
            select v_paused || o.options || jsonb_build_object('topic', s.topic, 'name', s.name,
                'client_id', s.client_id, 'selector', s.selector, 'shared', s.shared, 'no_local', s.no_local,
                'prioritized', s.prioritized, 'transformation', s.transformation)
            from howdah.subscriptions s cross join (
                select jsonb_object_agg(k.key, v_row -> k.key) as options
                from howdah._option_kinds() k where k.owner = 'queue') o
            where s.destination_id = v_destination.id and s.durable)
        when 'alias' then (
            select to_jsonb(a) - array['name', 'created_at', 'created_by'] from howdah.aliases a where a.name = p_name)
        when 'policy' then (select p.options from howdah.destination_policies p where p.pattern = p_name)
        when 'redaction' then (
            select jsonb_build_object('pattern', r.pattern, 'path', r.path, 'reason', r.reason)
            from howdah.redactions r where r.pattern || ' ' || r.path = p_name)
        when 'engine' then howdah.engine_options()
        when 'bridge' then (
            select jsonb_build_object('topic', t.name, 'queue', q.name, 'selector', b.selector,
                'transformation', b.transformation)
            from howdah.bridges b join howdah.destinations t on t.id = b.topic_id
            join howdah.destinations q on q.id = b.queue_id
            where t.name = split_part(p_name, ' ', 1) and q.name = split_part(p_name, ' ', 2)
              and t.dropped_at is null and q.dropped_at is null)
        when 'listener' then (
            select jsonb_build_object('queue', d.name, 'kind', l.kind, 'max_sessions', l.max_sessions,
                'stop_on_failure', l.stop_on_failure, 'sequential_failures', l.sequential_failures,
                'stopped', l.status = 'stopped' and l.stopped_message_id is null)
            from howdah.listeners l join howdah.destinations d on d.id = l.destination_id where l.name = p_name)
        when 'link' then (
            select jsonb_build_object('source', d.name, 'target_queue', l.target_queue, 'service', l.service,
                'dsn_env', l.dsn_env, 'selector', l.selector, 'batch_size', l.batch_size,
                'retry_ms_max', l.retry_ms_max, 'paused', l.paused,
                'transformation', l.transformation)
            from howdah.links l join howdah.destinations d on d.id = l.source_id where l.name = p_name)
        when 'grant' then (
            select jsonb_build_object('queue', d.name, 'grants', howdah._grants_of(d.id))
            from howdah.destinations d where d.name = p_name and d.dropped_at is null)
        when 'rule_set' then (select jsonb '{}' from howdah.access_rule_sets s where s.name = p_name)
        when 'rule' then (
            select jsonb_build_object('principals', r.principals) from howdah.access_rules r
            where r.rule_set = split_part(p_name, '/', 1)
              and howdah._rule_key(r.resource, r.name, r.operation, r.allow, r.kind)
                  = substr(p_name, strpos(p_name, '/') + 1))
        when 'transformation' then (
            select jsonb_build_object('function', t.function) from howdah.transformations t where t.name = p_name)
        when 'service' then (select to_jsonb(s) from howdah.services s where s.name = p_name)
        when 'storage' then (
            select coalesce(jsonb_object_agg(o.option_name, o.option_value), '{}')
            from pg_class c cross join pg_options_to_table(c.reloptions) o
            where c.relnamespace = 'howdah'::regnamespace and c.relname = p_name)
        when 'object' then (select howdah._object_json(o) from howdah.objects o where o.name = p_name)
        end;
end
$$;
