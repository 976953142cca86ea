-- howdah._link_drop_read(p_link, p_target, p_want): discard the best-effort messages of a subscription that were sent
-- while the target of its link was away.
--
-- Raises   as howdah.receive.
-- Role     internal
--
-- A selector cannot look for them in a topic. So the messages that come next are held, and those among them end.
-- p_want: how many come next. p_target: messages that have passed it are left to howdah.link_take.
create or replace function howdah._link_drop_read(p_link howdah.links, p_target uuid, p_want integer) returns void
language plpgsql volatile
as $$
declare
    v_source howdah.destinations;
    v_drop howdah.message[];
begin
    select d.* into v_source from howdah.destinations d where d.id = p_link.source_id;
    loop
        v_drop := array(
            select r from howdah.receive(v_source.name, p_want, true) r
            where r.reliability = 'BEST_EFFORT_NONPERSISTENT' and r.sent_at <= p_link.error_at
              and (strpos(r.headers ->> 'JMS_Howdah_Route', p_target::text) > 0) is not true);
        exit when v_drop = '{}';
        perform howdah._end_locked(v_source, array_agg(m.message_id), array_agg(m.priority), array_agg(m."position"),
            'discarded', 'LINK_AWAY: ' || p_link.name, 0::smallint)
        from unnest(v_drop) m;
        update howdah.links l set dropped = l.dropped + cardinality(v_drop) where l.link_id = p_link.link_id;
    end loop;
end
$$;
