-- howdah._link_drop(p_link): discard the messages of the level best effort that a link would forward, while its target
-- is away.
--
-- Role     internal
--
-- Those of a subscription go when the target is back (howdah._link_drop_read), because a selector cannot look for them
-- there. A queue that refuses to be read now keeps them until then, too.
create or replace function howdah._link_drop(p_link howdah.links) returns void
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_source howdah.destinations;
    v_found howdah.message[];
    v_ids bigint[];
begin
    select d.* into v_source from howdah.destinations d where d.id = p_link.source_id;
    if v_source.kind <> 'queue' or not exists (select from howdah.msgs_nonpersistent n
            where n.destination_id = p_link.source_id and n.reliability = 0
              and n.boot = pg_postmaster_start_time()) then
        return;
    end if;
    loop
        v_found := array(
            select r from howdah.receive(v_source.name, 1000, true, concat('(' || p_link.selector || ') AND ',
                $x$JMS_Howdah_Reliability = 'BEST_EFFORT_NONPERSISTENT'$x$)) r
            where p_link.target_engine_id is null
               or (strpos(r.headers ->> 'JMS_Howdah_Route', p_link.target_engine_id::text) > 0) is not true);
        exit when cardinality(v_found) = 0;
        with gone as (
            delete from howdah.msgs_nonpersistent n
            where n.ctid = any ((
                select howdah._nonpersistent_rows(v_source.id, array_agg(m.message_id), array_agg(m.priority),
                    array_agg(m."position"))
                from unnest(v_found) m)::tid[])
            returning n.message_id
        )
        select array_agg(g.message_id) into v_ids from gone g;
        exit when v_ids is null;
        insert into howdah.journal (at, destination_id, nonpersistent, event, reason, message_ids, reliability)
        select howdah.now(), v_source.id, true, 'discarded', 'LINK_AWAY: ' || p_link.name, v_ids, 0
        where v_source.journal_level <> 'off';
        update howdah.links l set dropped = l.dropped + cardinality(v_ids) where l.link_id = p_link.link_id;
    end loop;
exception when sqlstate 'HD009' or sqlstate 'HD016' or sqlstate 'HD019' or sqlstate 'HD032'
    or sqlstate 'HD040' then
    return;
end
$$;
