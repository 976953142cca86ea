-- howdah._setup(p_engine, p_roles, p_checksum): store the engine's settings, and create its own destination and lock.
--
-- Role     internal
--
-- p_roles is a JSON object of admin, producer, consumer, browser and auditor to role names. Each installation runs it;
-- the first one sets the engine's name for good.
create or replace function howdah._setup(p_engine text, p_roles jsonb, p_checksum text) returns void
language plpgsql volatile
as $$
declare
    v_system howdah.destinations;
begin
    insert into howdah.engine as e (id, name, procedures_checksum, admin_role, producer_role, consumer_role,
        browser_role, auditor_role, boot)
    values (1, p_engine, p_checksum, p_roles ->> 'admin', p_roles ->> 'producer', p_roles ->> 'consumer',
        p_roles ->> 'browser', p_roles ->> 'auditor', pg_postmaster_start_time())
    on conflict (id) do update set procedures_checksum = excluded.procedures_checksum,
        admin_role = excluded.admin_role, producer_role = excluded.producer_role,
        consumer_role = excluded.consumer_role, browser_role = excluded.browser_role,
        auditor_role = excluded.auditor_role;
    update howdah.engine e set system_identifier = c.system_identifier from pg_control_system() c
    where e.system_identifier is null;
    -- Draw the secrets once for good: transactions with different secrets would not exclude each other.
    perform setval(s.secret, ('x' || encode(sha256(uuid_send(gen_random_uuid())), 'hex'))::bit(63)::bigint)
    from unnest(array['howdah.lock_secret', 'howdah.ticket_secret']::regclass[]) s(secret)
    where pg_sequence_last_value(s.secret) is null;
    insert into howdah.latches (name) select n.name
    from unnest(array['backlog', 'expired', 'lost', 'names', 'ring', 'subscribing', 'subscriptions']) n(name)
    where not exists (select from howdah.latches l where l.name = n.name);
    insert into howdah.topic_ring (slot, generation, state, opened_at)
    select s.slot, 0, case s.slot when 0 then 'open' else 'empty' end, case s.slot when 0 then howdah.now() end
    from generate_series(0, 2) s(slot)
    where not exists (select from howdah.topic_ring);
    insert into howdah.services (name, kind, active, require_tls)
    values ('jms', 'NORMAL', true, false), ('ssljms', 'NORMAL', false, true), ('admin', 'ADMIN', true, false),
        ('ssladmin', 'ADMIN', false, true)
    on conflict do nothing;
    insert into howdah.lock (name) select 'maintenance'
    where not exists (select from howdah.lock l where l.name = 'maintenance');
    insert into howdah.access_rule_sets (name, created_at, created_by, changed_at)
    values ('default', howdah.now(), howdah._caller(), howdah.now())
    on conflict do nothing;
    if found then
        insert into howdah.access_rules (rule_set, resource, name, operation, allow, kind, principals)
        select 'default', r.* from howdah._default_rules() r;
    end if;
    select n.* into v_system from howdah._new_destination((select '_SYSTEM.Exception.Destination.' || e.name
        from howdah.engine e)) n;
    if not exists (select from howdah.destinations d where d.name = v_system.name and d.dropped_at is null) then
        v_system.is_system := true;
        v_system.journal_level := 'full';
        v_system.exception_mode := 'none';
        v_system.dispose_at := 1000000;
        perform howdah._add_destination(v_system);
    end if;
end
$$;
