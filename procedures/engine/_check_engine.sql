-- howdah._check_engine(p_states): refuse new work if the engine is in one of some states.
--
-- Raises   HD040 it is.
-- Role     internal
create or replace function howdah._check_engine(
    p_states text[] default '{paused,quiesced,stopped}'
) returns void
language plpgsql volatile
as $$
declare
    v_state text := howdah._engine_state();
begin
    if v_state = 'running' then
        perform howdah._begin_again();
    elsif v_state = any (p_states) then
        raise exception using errcode = 'HD040', message = format('the engine is %s', v_state),
            hint = 'Try again later: an administrator resumes it with howdah.resume_engine().';
    end if;
end
$$;
