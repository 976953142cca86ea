-- howdah._sweep_lost(): remove the non-persistent messages that a planned restart of the server left behind.
--
-- Role     internal
--
-- A crash empties UNLOGGED tables; a clean restart does not. A non-persistent message must survive neither.
--
-- The first caller after a restart sweeps. Nobody waits for it, because stale rows are never delivered.
create or replace function howdah._sweep_lost() returns void
language plpgsql volatile
as $$
declare
    v_boot timestamptz := pg_postmaster_start_time();
begin
    if exists (select from howdah.engine e where e.boot = v_boot) or not howdah._try_latch('lost') then
        return;
    end if;
    perform howdah._lose_nonpersistent(false,
        case when e.state = 'stopped' then 'engine stopped' else 'server restarted' end) from howdah.engine e;
    update howdah.engine e set boot = v_boot where e.id = 1;
    perform howdah._end_after_restart();
end
$$;
