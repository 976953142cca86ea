-- howdah.heartbeat(worker_id, in_hand): report that a worker lives, and how many messages it has in hand.
--
-- Returns  nothing. in_hand is a JSON object of queue name to number of messages.
-- Raises   HD005 in_hand is no JSON object of such numbers; HD015 the worker is not registered, or no longer.
-- Role     howdah_consumer howdah_admin
create or replace function howdah.heartbeat(worker_id uuid, in_hand jsonb default '{}') returns void
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if in_hand is null or jsonb_typeof(in_hand) <> 'object'
       or jsonb_path_exists(in_hand,
           'strict $.* ? (@.type() != "number" || @ < 0 || @ > 1000000000 || @.floor() != @)') then
        raise exception using errcode = 'HD005',
            message = 'in_hand must be a JSON object of queue name to number of messages';
    end if;
    update howdah.workers w set heartbeat_at = howdah.now(), in_hand = heartbeat.in_hand
    where w.worker_id = heartbeat.worker_id;
    if not found then
        raise exception using errcode = 'HD015', message = format('worker %s is not registered', worker_id),
            hint = 'It was silent for too long and was removed; register it again.';
    end if;
end
$$;
