-- howdah._empty_destination(p_destination, p_reason): discard every message of a destination that no transaction holds
-- (nor, in a purge, a lease).
--
-- Returns  the number of messages (bigint).
-- Role     internal
create or replace function howdah._empty_destination(p_destination howdah.destinations, p_reason text) returns bigint
language plpgsql volatile
as $$
declare
    v_ids bigint[];
    v_nonpersistent boolean;
    v_discarded bigint := 0;
begin
    perform howdah._commit_needs(4);
    perform howdah._sweep_lost();
    if p_reason = 'purged' then
        perform howdah._return_leases(p_destination.id, null, howdah.now());
    else
        perform howdah._lay_down(p_destination.id, l.lease_id, null, null) from howdah.leases l
        where l.destination_id = p_destination.id;
    end if;
    for v_ids, v_nonpersistent in
        with ready as (
            delete from howdah.msgs m where m.ctid = any (array(
                select c.ctid from howdah.msgs c where c.destination_id = p_destination.id for update skip locked))
            returning m.message_id
        ), nonpersistent as (
            delete from howdah.msgs_nonpersistent n where n.ctid = any (array(
                select c.ctid from howdah.msgs_nonpersistent c where c.destination_id = p_destination.id
                for update skip locked))
            returning n.message_id
        ), parked as (
            delete from howdah.parked p where p.ctid = any (array(
                select c.ctid from howdah.parked c where c.destination_id = p_destination.id
                    and (p_reason <> 'purged' or c.parked_reason <> 'lease' or c.due_at <= howdah.now())
                  for update skip locked))
            returning p.message_id, p.boot is not null as nonpersistent
        )
        select array_agg(g.message_id order by g.message_id), g.nonpersistent
        from (select r.message_id, false as nonpersistent from ready r
              union all select n.message_id, true from nonpersistent n
              union all select p.message_id, p.nonpersistent from parked p) g
        group by g.nonpersistent
    loop
        perform howdah._journal(p_destination, 'discarded', v_ids, v_nonpersistent, null, p_reason);
        perform howdah._record_act('purged', p_destination.id, v_ids, null,
            coalesce(nullif(current_setting('howdah.reason', true), ''), p_reason));
        v_discarded := v_discarded + cardinality(v_ids);
    end loop;
    return v_discarded;
end
$$;
