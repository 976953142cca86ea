-- howdah._own_schedule(p_id): a schedule that the caller may change, as its creator or as an administrator of its
-- destination.
--
-- Returns  the row of howdah.schedules, locked.
-- Raises   HD029 there is none, or it is somebody else's.
-- Role     internal
create or replace function howdah._own_schedule(p_id bigint) returns howdah.schedules
language plpgsql volatile
as $$
declare
    v_schedule howdah.schedules;
begin
    select s.* into v_schedule from howdah.schedules s where s.id = p_id and s.state <> 'cancelled' for no key update;
    if not found or not howdah._may_change(v_schedule) then
        raise exception using errcode = 'HD029',
            message = format('there is no schedule %s that role %s may change', coalesce(p_id::text, 'NULL'),
                quote_ident(howdah._caller())),
            hint = 'See howdah.list_schedules(). Its creator and the administrators of its queue may change it.';
    end if;
    return v_schedule;
end
$$;
