-- howdah._note_streak(p_destination_id, p_message_id): disable a queue once it has had as many failures in a row as
-- disable_after says.
--
-- Role     internal
--
-- This is Service Broker's rule of five rollbacks. Failures are in a row if, since the first of them, no transaction
-- that took its message later has consumed a message of the queue. The journal tells this; nothing is written for a
-- success.
--
-- Receives raise HD016 from the commit on. The event QUEUE_DISABLED goes to the queue _SYSTEM.Advisory and, with
-- NOTIFY, to the channel howdah_events. The caller's advisory lock orders the failures of a queue, so that no two of
-- them take the same place in the row.
create or replace function howdah._note_streak(p_destination_id integer, p_message_id bigint) returns void
language plpgsql volatile
as $$
declare
    v_queue record;
    v_failures bigint;
    v_since bigint;
begin
    select d.name, d.disable_after, d.streak_from, d.disabled_at into v_queue
    from howdah.destinations d where d.id = p_destination_id and d.poison_handling and d.disable_after > 0;
    if v_queue.name is null or v_queue.disabled_at is not null then
        return;
    end if;
    select count(*), pg_current_xact_id()::text::bigint - max(age(l.xmin)) into v_failures, v_since
    from (select p.xmin from howdah.poison_details p
          where p.destination_id = p_destination_id and p.incident_id > v_queue.streak_from and not p.uncounted
          order by p.incident_id desc limit v_queue.disable_after) l;
    if v_failures < v_queue.disable_after
       or exists (select from howdah.journal j where j.xid >= v_since and j.destination_id = p_destination_id
           and j.event = 'consumed') then
        return;
    end if;
    update howdah.destinations d set disabled_at = howdah.now(), receiving_paused = true,
        own_receiving_paused = true where d.id = p_destination_id;
    perform howdah._advise('QUEUE_DISABLED', v_queue.name,
        jsonb_build_object('message_id', p_message_id, 'reason', format('%s failures in a row', v_failures)));
    perform howdah._announce('QUEUE_DISABLED', v_queue.name, jsonb_build_object('message_id', p_message_id));
end
$$;
