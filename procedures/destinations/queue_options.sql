-- howdah.queue_options(queue): all options of a queue with their values.
--
-- Returns  a JSON object in the form that howdah.create_queue takes.
-- Raises   HD001 no such queue, or the caller has no right to it; HD010 called from a maintenance command.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.queue_options(queue text) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp set extra_float_digits = 1
as $$
declare
    v_destination howdah.destinations;
begin
    select d.* into v_destination from howdah.destinations d
    where d.name = queue and d.dropped_at is null and d.kind <> 'topic'
      and (howdah._sees_all() or howdah._sees(d.id));
    if not found then
        raise exception using errcode = 'HD001', message = format('there is no queue %s',
            coalesce(quote_literal(left(queue, 250)), 'NULL')),
            hint = 'Create it with howdah.create_queue(name), or see howdah.list_queues().';
    end if;
    -- howdah.list_queues shows the values in effect
    v_destination.max_message_bytes := v_destination.own_max_message_bytes;
    v_destination.persistent := v_destination.own_persistent;
    return (select jsonb_object_agg(k.key, to_jsonb(v_destination) -> k.key) from howdah._option_kinds() k
        where k.owner = 'queue');
end
$$;
