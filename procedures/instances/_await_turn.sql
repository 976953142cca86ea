-- howdah._await_turn(p_instance): take or keep the leases that an instance needs to run.
--
-- Returns  what it waits for: master, exclusive, or NULL (text).
-- Role     internal
--
-- An instance that runs goes on without the master of changes: only changes are refused then. Without the exclusive
-- lease it stands by at once.
create or replace function howdah._await_turn(p_instance howdah.instances) returns text
language plpgsql volatile
as $$
declare
    v_engine howdah.engine;
    v_holder constant text := p_instance.instance_id::text;
begin
    select e.* into v_engine from howdah.engine e;
    if v_engine.cluster_mode = 'master' and v_engine.cluster_master = p_instance.name then
        if howdah._acquire_lock('changes', v_holder, v_engine.instance_timeout_seconds) is null
           and p_instance.state = 'INITIALIZING' then
            return 'master';
        end if;
    elsif p_instance.state = 'INITIALIZING' and not howdah._accepts_changes() then
        return 'master';
    end if;
    if v_engine.exclusive
       and howdah._acquire_lock('exclusive', v_holder, v_engine.instance_timeout_seconds) is null then
        return 'exclusive';
    end if;
    return null;
end
$$;
