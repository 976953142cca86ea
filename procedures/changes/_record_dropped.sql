-- howdah._record_dropped(p_destination): record that a queue, topic or subscription is dropped, and what goes with it.
--
-- Role     internal
--
-- Its listeners, links and bridges go first, so that undoing from the last change to the first works. Bridges that a
-- virtual topic has because of its name come back by themselves. The record of the destination holds its rights, which
-- it gets back when it is made anew.
create or replace function howdah._record_dropped(p_destination howdah.destinations) returns void
language plpgsql volatile
as $$
declare
    v_before jsonb := howdah._properties(p_destination.kind, p_destination.name);
begin
    if v_before is null then
        return;
    end if;
    perform howdah._record_change(g.kind, g.name, 'dropped', howdah._properties(g.kind, g.name), null)
    from (select 'listener' as kind, l.name from howdah.listeners l where l.destination_id = p_destination.id
          union all select 'link', l.name from howdah.links l where l.source_id = p_destination.id
          union all select 'bridge', concat_ws(' ', t.name, q.name)
          from howdah.bridges b join howdah.destinations t on t.id = b.topic_id
          join howdah.destinations q on q.id = b.queue_id
          where p_destination.id in (b.topic_id, b.queue_id)
            and not (t.name ^@ 'VirtualTopic.' and q.name ~ '^Consumer[.][^.]+[.]VirtualTopic[.]')) g;
    perform howdah._record_change(p_destination.kind, p_destination.name, 'dropped', v_before
        || jsonb_build_object('grants', howdah._grants_of(p_destination.id)), null);
end
$$;
