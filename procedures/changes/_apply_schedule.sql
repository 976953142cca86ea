-- howdah._apply_schedule(p_is, p_wanted): take back what was done with a schedule.
--
-- Raises   HD045 it was cancelled: its body is not on record; what the verbs raise that it calls.
-- Role     internal
create or replace function howdah._apply_schedule(p_is jsonb, p_wanted jsonb) returns void
language plpgsql volatile
as $$
begin
    if p_is is null then
        raise exception using errcode = 'HD045', message = 'a cancelled schedule cannot be brought back',
            hint = 'Its body is not on record. Schedule it anew.';
    elsif p_wanted is null then
        perform howdah.cancel_schedule((p_is ->> 'id')::bigint);
    elsif p_wanted ->> 'state' = 'paused' then
        perform howdah.pause_schedule((p_is ->> 'id')::bigint);
    else
        perform howdah.resume_schedule((p_is ->> 'id')::bigint);
    end if;
end
$$;
