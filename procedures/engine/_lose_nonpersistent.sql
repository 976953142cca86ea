-- howdah._lose_nonpersistent(p_all, p_reason): remove non-persistent messages: all, or those that an earlier start of
-- the server took.
--
-- Role     internal
--
-- The journal gets them as lost, topic messages for each subscription that has not read them. Those are removed only
-- with p_all: after a restart nobody reads them, and their tables are emptied when the ring turns.
create or replace function howdah._lose_nonpersistent(p_all boolean, p_reason text) returns void
language plpgsql volatile
as $$
declare
    v_boot constant timestamptz := pg_postmaster_start_time();
    v_lost record;
begin
    for v_lost in
        with ready as (
            delete from howdah.msgs_nonpersistent n where p_all or n.boot <> v_boot
            returning n.destination_id, n.message_id
        ), parked as (
            delete from howdah.parked p where p.boot is not null and (p_all or p.boot <> v_boot)
            returning p.destination_id, p.message_id
        )
        select g.destination_id, array_agg(g.message_id order by g.message_id) as message_ids
        from (select * from ready union all select * from parked) g group by g.destination_id
    loop
        perform howdah._journal(d, 'lost', v_lost.message_ids, true, null, p_reason)
        from howdah.destinations d where d.id = v_lost.destination_id;
        perform howdah._log_event('NONPERSISTENT_LOST', d.name,
            jsonb_build_object('messages', cardinality(v_lost.message_ids), 'reason', p_reason))
        from howdah.destinations d where d.id = v_lost.destination_id;
    end loop;
    perform howdah._lose_unread(p_all, p_reason);
    if p_all then
        -- for N in 0, 1, 2:
        delete from howdah.topic_nonpersistent_N;
        -- end for
    end if;
end
$$;
