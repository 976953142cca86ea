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
    v_lost record;
begin
    if exists (select from howdah.engine e where e.boot = v_boot) or not howdah._try_latch('lost') then
        return;
    end if;
    for v_lost in
        with ready as (
            delete from howdah.msgs_nonpersistent n where n.boot <> v_boot returning n.destination_id, n.message_id
        ), parked as (
            delete from howdah.parked p where p.boot <> v_boot returning p.destination_id, p.message_id
        )
        select g.destination_id, array_agg(g.message_id order by g.message_id) as message_ids
        from (select * from ready union all select * from parked) g group by g.destination_id
    loop
        perform howdah._journal(d, 'lost', v_lost.message_ids, true, null, 'server restarted')
        from howdah.destinations d where d.id = v_lost.destination_id;
    end loop;
    update howdah.engine e set boot = v_boot where e.id = 1;
end
$$;
