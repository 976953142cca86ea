-- howdah._switch_paused(p_name, p_wanted): pause or resume a destination, as its wanted properties say.
--
-- Role     internal
create or replace function howdah._switch_paused(p_name text, p_wanted jsonb) returns void
language plpgsql volatile
as $$
declare
    v_sending constant boolean := (p_wanted ->> 'sending_paused')::boolean;
    v_receiving constant boolean := (p_wanted ->> 'receiving_paused')::boolean;
    v_is howdah.destinations;
begin
    select d.* into v_is from howdah.destinations d where d.name = p_name and d.dropped_at is null;
    if v_sending and not v_is.own_sending_paused or v_receiving and not v_is.own_receiving_paused then
        perform howdah.pause(p_name, v_sending, v_receiving);
    end if;
    if not v_sending and v_is.own_sending_paused or not v_receiving and v_is.own_receiving_paused then
        perform howdah.resume(p_name, not v_sending, not v_receiving);
    end if;
end
$$;
