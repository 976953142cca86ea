-- howdah._ensure_targets(p_destination): create missing queues that a policy uses under fixed names.
--
-- Role     internal
--
-- These are SYSTEM.DEAD.LETTER.QUEUE, ActiveMQ.DLQ or the individual dead-letter queue, and _SYSTEM.Advisory. The first
-- poison message does not create them: its receiver could then not be prepared, and would wait for others.
create or replace function howdah._ensure_targets(p_destination howdah.destinations) returns void
language plpgsql volatile
as $$
declare
    v_name text;
    v_target howdah.destinations;
begin
    for v_name in
        select n.name
        from (values
            ('SYSTEM.DEAD.LETTER.QUEUE', p_destination.exception_mode = 'dead_letter'
                or p_destination.exception_fallback = 'dead_letter'),
            ('ActiveMQ.DLQ', p_destination.exception_mode = 'shared'),
            (p_destination.exception_prefix || p_destination.name, p_destination.exception_mode = 'individual'),
            ('_SYSTEM.Advisory', p_destination.notify_admin or p_destination.disable_after > 0)
        ) n(name, needed)
        where n.needed and n.name <> p_destination.name
          and not exists (select from howdah.destinations d where d.name = n.name and d.dropped_at is null)
    loop
        perform pg_advisory_xact_lock(howdah._lock_key('name', v_name));
        continue when exists (select from howdah.destinations d where d.name = v_name and d.dropped_at is null);
        v_target := howdah._new_destination(v_name);
        v_target.is_system := v_name in ('SYSTEM.DEAD.LETTER.QUEUE', '_SYSTEM.Advisory');
        -- These belong to everybody, whoever needs one first.
        v_target.persistent := p_destination.persistent or v_target.is_system;
        -- What the engine itself puts there is recorded like any send; otherwise an audit could not tell it from a
        -- forgery.
        v_target.journal_level := case when v_target.is_system then 'full' else v_target.journal_level end;
        if v_name = '_SYSTEM.Advisory' then
            v_target.default_time_to_live_ms := 7 * 86400000;
        else
            v_target.exception_mode := 'none';
            v_target.dispose_at := 1000000;
        end if;
        perform howdah._add_destination(v_target);
    end loop;
end
$$;
