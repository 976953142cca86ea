-- howdah.poison_message(message_id, queue): find one message anywhere: ready, parked or dead.
--
-- Returns  one row: the message (howdah.message), its state (live, parked or dead), and for a parked one until when and
--          why. A topic's message gives one row per subscription that it was set aside for. No row if it is gone. A
--          message in somebody's hands is still shown where it was.
-- Raises   HD001 no such queue; HD010 not allowed; HD037 on a standby.
-- Role     howdah_browser howdah_consumer howdah_admin
--
-- It looks where the message was sent to, in exception destinations and in the queues where it failed, or in queue
-- only. It skips places that the caller may not browse. howdah.incidents(message_id => …) shows the failures.
--
-- Where a redaction rule matches, bodies come redacted as with howdah.browse.
create or replace function howdah.poison_message(message_id bigint, queue text default null)
returns table (message howdah.message, state text, due_at timestamptz, parked_reason text)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select case when howdah._sees_bodies((p.message).queue) then p.message else howdah._redacted(p.message) end,
        p.state, p.due_at, p.parked_reason
    from howdah._whole_message(poison_message.message_id, poison_message.queue) p;
end
$$;
