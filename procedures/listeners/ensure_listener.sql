-- howdah.ensure_listener(listener, queue, options): create a listener unless it exists; an existing one keeps its
-- options.
--
-- Returns  a warning (text) if its limit contradicts the queue's, otherwise NULL.
-- Raises   HD001 no such queue; HD003 bad name; HD004 unknown or wrong option; HD010 not allowed; HD021 it belongs to
--          another queue; HD002, HD027 the missing queue cannot create itself (docs/auto-creation.md); HD045 the master
--          of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- Workers call it at their start. The options are those of howdah.create_listener.
create or replace function howdah.ensure_listener(listener text, queue text, options jsonb default '{}') returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_wanted howdah.listeners;
    v_listener howdah.listeners;
begin
    perform howdah._ensure_destination(queue, 'queue');
    v_wanted := howdah._new_listener(listener, howdah._queue(queue, 'receive'), options);
    select l.* into v_listener from howdah.listeners l where l.name = listener;
    if not found then
        -- If another worker was faster, its row counts.
        perform howdah._add_listener(v_wanted);
        select l.* into v_listener from howdah.listeners l where l.name = listener;
    end if;
    if v_listener.destination_id <> v_wanted.destination_id then
        raise exception using errcode = 'HD021',
            message = format('listener %s belongs to queue %s', quote_literal(listener),
                quote_literal(howdah._destination_name(v_listener.destination_id))),
            hint = 'Give the listener another name, or drop it with howdah.drop_listener(listener).';
    end if;
    return howdah._listener_warning(v_listener);
end
$$;
